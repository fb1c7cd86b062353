"""Any program as an agent: what it is given, and what its answer means."""

import json
import sys
from pathlib import Path

import pytest

from handrail.agents.described.adapter import MAX_LENGTH, CommandAgent
from handrail.errors import NotFound, UsageError
from handrail.ports.agent_definitions import AgentDefinition, ValueMapping
from handrail.ports.agents import Usage, unmet
from support.agents.call_room import CallRoom

ECHO = "import sys, json; json.dump([sys.argv[1:], sys.stdin.read()], open('seen.json', 'w')); print('done')"


@pytest.fixture
def calls(tmp_path: Path) -> CallRoom:
    return CallRoom(tmp_path)


def agent(*words: str, **changes: object) -> CommandAgent:
    asked = {"name": "mine", "command": (sys.executable, *words), **changes}
    return CommandAgent(AgentDefinition(**asked))  # pyright: ignore[reportArgumentType] - the values of a test


def saying(*printed: str, **changes: object) -> CommandAgent:
    script = f"import sys; print({chr(10).join(printed)!r}); sys.exit({changes.pop('code', 0)})"
    return agent("-c", script, **changes)


def seen(calls: CallRoom) -> tuple[list[str], str]:
    words, told = json.loads((calls.workspace / "seen.json").read_text())
    return words, told


def test_a_prompt_without_a_place_is_given_on_the_input(calls: CallRoom) -> None:
    outcome = calls.play(agent("-c", ECHO), "mend it; $(rm -rf x)\n")
    assert (outcome.status, outcome.text, outcome.cost) == ("ok", "done", None)
    assert seen(calls) == ([], "mend it; $(rm -rf x)\n")
    assert calls.shown == ["done"]


def test_a_prompt_stays_within_one_word_and_is_never_read_again(calls: CallRoom) -> None:
    calls.play(agent("-c", ECHO, "--message={prompt}", "{workspace}"), "a b; $(c) {workspace} {model}\nd")
    words, told = seen(calls)
    assert words == ["--message=a b; $(c) {workspace} {model}\nd", str(calls.workspace)]
    assert told == ""


def test_a_prompt_may_be_a_file(calls: CallRoom) -> None:
    calls.play(agent("-c", ECHO, "{prompt_file}"), "long")
    words, _ = seen(calls)
    assert Path(words[0]).read_text() == "long"


def test_options_come_where_the_command_has_a_place_for_them_else_at_its_end(calls: CallRoom) -> None:
    options = {
        "model": ("--model", "{model}"),
        "resume": ("--resume={session}",),
        "mapped": (ValueMapping("session", ("s",)),),
        "access": (("read", ("--read-only",)), ("full", ())),
    }
    asked = {"model": "{prompt}", "session": "s1", "access": "read"}
    calls.play(agent("-c", ECHO, "run", "{options}", "{prompt}", **options), "do it", **asked)
    assert seen(calls)[0] == ["run", "--read-only", "--model", "{prompt}", "--resume=s1", "do it"]
    calls.play(agent("-c", ECHO, "{prompt}", **options), "do it", **asked)
    assert seen(calls)[0] == ["do it", "--read-only", "--model", "{prompt}", "--resume=s1"]


def test_only_what_a_definition_has_words_for_can_be_asked(calls: CallRoom) -> None:
    plain = agent("-c", ECHO)
    assert unmet("mine", plain.can, calls.call(access="full")) == ()
    asked = calls.call(access="read", model="m", session="s", single_turn=True, disallowed_tools=("Bash",))
    assert unmet("mine", plain.can, asked) == (
        "mine: `access: read` cannot be enforced",
        "mine: `disallowed_tools` cannot be enforced",
        "mine: `single_turn` cannot be enforced",
        "mine: conversations cannot be continued",
        "mine: the model cannot be selected",
    )


def test_a_document_of_json_is_read_by_paths(calls: CallRoom) -> None:
    mapped = (
        ValueMapping("text", ("result", "parts", 0, "text")),
        ValueMapping("session", ("id",)),
        ValueMapping("cost", ("usd",)),
        ValueMapping("input_tokens", ("usage", "in")),
        ValueMapping("output", ("data",)),
    )
    answer = {"result": {"parts": [{"text": "hi"}]}, "id": "s9", "usd": 0.5, "usage": {"in": 7}, "data": {"ok": True}}
    outcome = calls.play(saying("a greeting", json.dumps(answer, indent=1), output="json", mapped=mapped))
    assert (outcome.status, outcome.text, outcome.session, outcome.cost) == ("ok", "hi", "s9", 0.5)
    assert (outcome.usage, outcome.output, outcome.has_output) == (Usage(7), {"ok": True}, True)


def test_lines_of_json_are_chosen_added_up_and_need_their_last_one(calls: CallRoom) -> None:
    mapped = (
        ValueMapping("text", ("text",), ((("type",), "say"),), add=True),
        ValueMapping("output_tokens", ("tokens",), add=True),
    )
    lines = [
        {"type": "say", "text": "one "},
        {"type": "think", "text": "hm"},
        {"type": "say", "text": "two", "tokens": 3},
        {"type": "end", "tokens": 4},
    ]
    told = ["no json", *(json.dumps(each) for each in lines)]
    how = {"output": "jsonl", "mapped": mapped, "final": ((("type",), "end"),)}
    outcome = calls.play(saying(*told, **how))
    assert (outcome.status, outcome.text, outcome.usage) == ("ok", "one two", Usage(0, 7))
    assert calls.shown == ["one ", "two"]
    cut = calls.play(saying(*told[:-1], **how))
    assert (cut.status, cut.message) == ("crashed", "the agent ended with exit code 0 and returned no result")


def test_an_error_in_the_answer_and_an_answer_that_is_none_are_failures(calls: CallRoom) -> None:
    mapped = (ValueMapping("text", ("text",)), ValueMapping("error", ("error",)))
    wrong = calls.play(saying('{"error": {"message": "no key"}}', output="json", mapped=mapped))
    assert (wrong.status, wrong.message) == ("api_error", "no key")
    fine = calls.play(saying('{"error": false, "text": "x"}', output="json", mapped=mapped))
    assert fine.status == "ok"
    assert calls.play(saying("oops", output="json", mapped=mapped)).status == "no_output"


def test_a_program_that_prints_nothing_gave_no_answer(calls: CallRoom) -> None:
    assert calls.play(agent("-c", "")).status == "no_output"


def test_exit_codes_have_the_meaning_that_the_definition_gives_them(calls: CallRoom) -> None:
    codes = ((3, "rate_limited"), (4, "ok"))
    limited = calls.play(saying("x", code=3, exit_codes=codes))
    assert (limited.status, limited.message) == ("rate_limited", "it ended with exit code 3")
    assert calls.play(saying("x", code=4, exit_codes=codes)).status == "ok"
    other = calls.play(saying("x", code=5, exit_codes=codes))
    assert (other.status, other.text) == ("crashed", "x")


def test_variables_and_a_line_of_two_megabytes_arrive(calls: CallRoom) -> None:
    script = "import os; print(os.environ['MINE'] + 'x' * (2 << 20))"
    outcome = calls.play(agent("-c", script, env=(("MINE", "yes"),)))
    assert outcome.text.startswith("yesx")
    assert len(outcome.text) == (2 << 20) + 3


def test_a_program_that_is_stopped_crashed(calls: CallRoom) -> None:
    mine = agent("-c", "import time; open('begun', 'w').close(); time.sleep(300)")
    spec = calls.start(mine, calls.call())
    calls.until(calls.workspace / "begun")
    outcome = calls.end(mine, spec)
    assert outcome.status == "crashed"
    assert "killed by SIG" in outcome.message or "exit code" in outcome.message


def test_a_prompt_that_no_argument_can_hold_is_refused_with_the_way_out(calls: CallRoom) -> None:
    with pytest.raises(UsageError, match="is too long") as caught:
        agent("-c", ECHO, "{prompt}").launch(calls.call("x" * (MAX_LENGTH + 1)), str(calls.root))
    assert "{prompt_file}" in (caught.value.next_step or "")


def test_a_missing_program_is_said_with_how_to_get_it(calls: CallRoom) -> None:
    mine = CommandAgent(AgentDefinition(name="mine", command=("no-such-agent",), install="pip install mine"))
    with pytest.raises(
        NotFound, match="the agent 'mine' is not installed: there is no program `no-such-agent`"
    ) as caught:
        mine.launch(calls.call(), str(calls.root))
    assert caught.value.next_step == "pip install mine"

"""What is read from the lines of opencode, as it printed them."""

import json
from pathlib import Path

import pytest

from handrail.agents.opencode.adapter import OpencodeAgent
from handrail.agents.opencode.lines import OpencodeLines, describe_line
from handrail.errors import UsageError
from handrail.ports.agents import AgentCall, AgentOutcome, Usage
from handrail.ports.processes import Ended, Gone
from support.places import RECORDED

OPENCODE = RECORDED / "opencode"


WELL = Ended(0)


def read(name: str, ended: Ended | Gone = WELL, lines: int | None = None) -> tuple[AgentOutcome, list[str]]:
    reader = OpencodeLines()
    shown = [reader.feed(line) for line in (OPENCODE / f"{name}.jsonl").read_bytes().splitlines()[:lines]]
    return reader.outcome(ended), [each for each in shown if each]


def finished(reason: str, cost: float = 0.0) -> bytes:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 7, "write": 3}}
    return json.dumps({"type": "step_finish", "part": {"reason": reason, "tokens": tokens, "cost": cost}}).encode()


@pytest.fixture
def opencode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpencodeAgent:
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.delenv("OPENCODE_CONFIG_CONTENT", raising=False)
    return OpencodeAgent()


def launched(agent: OpencodeAgent, **changes: object) -> tuple[tuple[str, ...], dict[str, str]]:
    asked = {"run": "r", "address": "one", "turn": 1, "prompt": "do it", "workspace": "/srv/shop", **changes}
    launch = agent.launch(AgentCall(**asked), "/nowhere")  # pyright: ignore[reportArgumentType] - the values of a test
    return launch.argv[1:], dict(launch.env)


def test_an_edit_is_read_with_its_words_session_tokens_and_cost() -> None:
    outcome, shown = read("edit")
    assert (outcome.status, outcome.text, outcome.message) == ("ok", "done it", "")
    assert outcome.session == "ses_e1d24ed0cffeEFtMWQDAn7qfhJ"
    assert (outcome.usage, outcome.cost) == (Usage(2000, 200, 0), 0.004)
    assert shown == ["bash echo hi > a.txt", "done it"]


def test_a_conversation_that_goes_on_counts_what_this_call_took() -> None:
    outcome, _ = read("again")
    assert (outcome.text, outcome.usage, outcome.cost) == ("second", Usage(1000, 100, 0), 0.002)


def test_denied_tools_are_named() -> None:
    assert read("read")[0].message == "denied: write, bash"
    assert read("out")[0].message == "denied: write"
    assert read("nobash")[0].message == "denied: bash"


def test_errors_of_the_service_are_told_apart() -> None:
    refused, _ = read("e400", Ended(1))
    assert (refused.status, refused.message) == ("api_error", "bad thing")
    assert read("e401", Ended(1))[0].status == "auth"


def test_without_a_last_step_it_crashed_although_the_exit_code_is_0() -> None:
    assert read("edit", lines=3)[0].status == "crashed"
    assert read("edit", lines=4)[0].status == "crashed"
    assert read("edit", Gone())[0].status == "crashed"
    assert OpencodeLines().outcome(Ended(0)).status == "crashed"


@pytest.mark.parametrize(
    ("reason", "status"), [("length", "limit"), ("content-filter", "api_error"), ("other", "network")]
)
def test_the_reason_of_the_last_step_decides(reason: str, status: str) -> None:
    reader = OpencodeLines()
    reader.feed(finished(reason))
    assert reader.outcome(Ended(0)).status == status


def test_a_model_without_a_price_has_no_cost_and_tokens_of_the_cache_stand_apart() -> None:
    reader = OpencodeLines()
    reader.feed(finished("stop"))
    outcome = reader.outcome(Ended(0))
    assert (outcome.cost, outcome.usage) == (None, Usage(13, 7, 7))


def test_a_rate_limit_says_when_it_is_over() -> None:
    data = {"message": "slow down", "statusCode": 429, "responseHeaders": {"retry-after": "30"}}
    reader = OpencodeLines()
    reader.feed(json.dumps({"type": "error", "error": {"name": "APIError", "data": data}}).encode())
    outcome = reader.outcome(Ended(1))
    assert (outcome.status, outcome.retry_after) == ("rate_limited", 30.0)


def test_a_glimpse_shows_the_tool_or_the_words() -> None:
    lines = (OPENCODE / "edit.jsonl").read_bytes().splitlines()
    assert [describe_line(each) for each in lines] == [None, "bash echo hi > a.txt", None, None, "done it", None]


def test_full_access_uses_the_users_own_agent(opencode: OpencodeAgent) -> None:
    words, env = launched(opencode, access="full", model="local/m", session="ses_1")
    assert words == ("run", "--format=json", "--auto", "--model=local/m", "--session=ses_1")
    assert "OPENCODE_PERMISSION" not in env


def test_access_read_is_an_agent_whose_name_nobody_knows(opencode: OpencodeAgent) -> None:
    words, env = launched(opencode, access="read")
    again, _ = launched(opencode, access="read")
    assert words != again
    name = words[-1].removeprefix("--agent=")
    permissions = json.loads(env["OPENCODE_PERMISSION"])
    assert json.loads(env["OPENCODE_CONFIG_CONTENT"])["agent"][name]["permission"] == permissions
    assert next(iter(permissions.items())) == ("*", "deny")
    assert {each for each, verdict in permissions.items() if verdict == "allow"} == {
        *("read", "glob", "grep", "list", "webfetch", "websearch", "todowrite", "todoread", "lsp", "skill")
    }


def test_edit_stays_inside_the_work_tree_and_lists_count_more(opencode: OpencodeAgent) -> None:
    _, env = launched(opencode)
    edit = json.loads(env["OPENCODE_PERMISSION"])
    assert edit == {"*": "allow", "external_directory": "deny", "question": "deny"}
    _, env = launched(opencode, access="read", allowed_tools=("Read", "Write"))
    both = json.loads(env["OPENCODE_PERMISSION"])
    assert {each for each, verdict in both.items() if verdict == "allow"} == {"read"}
    _, env = launched(opencode, access="read", allowed_tools=())
    assert "allow" not in json.loads(env["OPENCODE_PERMISSION"]).values()
    _, env = launched(opencode, access="full", disallowed_tools=("Bash",))
    listed = json.loads(env["OPENCODE_PERMISSION"])
    assert (listed["bash"], listed["task"], listed["*"]) == ("deny", "deny", "allow")
    _, env = launched(opencode, access="full", no_comment=True)
    quiet = json.loads(env["OPENCODE_PERMISSION"])
    assert (quiet["linear_create_comment"], quiet["*"]) == ("deny", "allow")


def test_settings_that_the_user_gives_in_the_same_variable_are_kept(opencode: OpencodeAgent) -> None:
    given = {"OPENCODE_CONFIG_CONTENT": '{"model": "local/m"}'}
    assert json.loads(launched(opencode, environ=given)[1]["OPENCODE_CONFIG_CONTENT"])["model"] == "local/m"
    with pytest.raises(UsageError, match="OPENCODE_CONFIG_CONTENT is not JSON"):
        launched(opencode, environ={"OPENCODE_CONFIG_CONTENT": "{"})

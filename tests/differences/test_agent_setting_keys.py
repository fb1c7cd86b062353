"""The settings of agents: what they are started with, and what they may do."""

from typing import Any

import pytest

from handrail.engine.issues.progress_text import write_progress
from handrail.engine.issues.work_state import WorkState
from handrail.operations.issue_runs.run_progress import collect_progress
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

AGENT: Json = {"name": "work", "prompt": "Do the work."}
NEXT: Json = {"name": "next", "prompt": "Go on."}


@proves("agent settings.agent", "agent settings.model")
def test_agent_and_model_choose_who_is_called(run: Benches) -> None:
    usual = run(flow(AGENT), agent="", config='[agent]\ndefault = "claude"\n')
    other = run(flow({**AGENT, "agent": "codex"}), agent="", config='[agent]\ndefault = "claude"\n')
    model = run(flow({**AGENT, "agent": "claude", "model": "opus"}), agent="")
    both = run(flow({**AGENT, "agent": "claude/opus"}), agent="")
    assert [each.bench.performer.agents for each in (usual, other)] == [["claude"], ["codex"]]
    assert (usual.calls[0].model, model.calls[0].model, both.calls[0].model) == (None, "opus", "opus")


@proves("agent settings.access")
def test_access_is_what_an_agent_is_held_to(run: Benches) -> None:
    assert [run(flow({**AGENT, **more})).calls[0].access for more in ({}, {"access": "read"}, {"access": "full"})] == [
        "edit",
        "read",
        "full",
    ]


@proves("agent settings.access")
def test_access_is_told_to_a_connected_agent(both: Benches) -> None:
    usual, read = both(flow(AGENT)).prompt, both(flow({**AGENT, "access": "read"})).prompt
    assert "change no file" in read
    assert "change no file" not in usual


@proves("agent settings.session", "session.from", "session.carry")
def test_session_lets_a_conversation_go_on(run: Benches) -> None:
    def second(**more: object) -> tuple[str | None, str]:
        call = run(flow(AGENT, {**NEXT, **more}), plays={"work": Play("I painted.")}).calls[1]
        return call.session, call.prompt

    assert second()[0] is None
    assert second(session="work")[0] == "talk-0"
    assert second(session="continue")[0] == "talk-0"
    assert second(session={"from": "work", "carry": "conversation"})[0] == "talk-0"
    session, prompt = second(session={"from": "work", "carry": "summary"})
    assert session is None
    assert "I painted." in prompt


@proves("agent settings.handoff")
def test_handoff_decides_what_is_told_of_the_run_so_far(both: Benches) -> None:
    def second(**more: object) -> str:
        return both(flow(AGENT, {**NEXT, **more}), plays={"work": Play("I painted the fence.")}).prompts[1]

    assert "I painted the fence." in second()
    assert "I painted the fence." in second(handoff="full")
    assert "I painted the fence." not in second(handoff="none")


@proves("agent settings.system_prompt")
def test_a_system_prompt_reaches_the_agent(run: Benches) -> None:
    assert run(flow(AGENT)).calls[0].system_prompt is None
    found = run(flow({**AGENT, "system_prompt": "You are a careful painter."})).calls[0].system_prompt
    assert found is not None
    assert "You are a careful painter." in found


@proves("agent settings.single_turn", "agent settings.allowed_tools", "agent settings.disallowed_tools")
def test_turns_and_tools_are_limited(run: Benches) -> None:
    free = run(flow(AGENT)).calls[0]
    bound = run(flow({**AGENT, "single_turn": True, "allowed_tools": ["Read"]})).calls[0]
    denied = run(flow({**AGENT, "disallowed_tools": ["Bash"]})).calls[0]
    assert (free.single_turn, free.allowed_tools, free.disallowed_tools) == (False, None, ())
    assert (bound.single_turn, bound.allowed_tools, denied.disallowed_tools) == (True, ("Read",), ("Bash",))


@proves("agent settings.handrail_tools")
def test_tools_of_handrail_are_offered_to_the_agent(run: Benches) -> None:
    assert run(flow(AGENT)).calls[0].server is None
    server = run(flow({**AGENT, "handrail_tools": ["report_progress"]})).calls[0].server
    assert server is not None
    assert server.tools == ("report_progress",)


@proves("agent settings.idle_timeout")
def test_a_silent_agent_is_ended(run: Benches) -> None:
    found = run(flow({**AGENT, "idle_timeout": "10ms"}), plays={"work": Play(hangs=True)})
    assert "printed nothing" in found.told


@proves("agent settings.tmux")
def test_tmux_gives_the_agent_a_window(run: Benches) -> None:
    def shown(**more: object) -> list[str]:
        found = run(flow({**AGENT, **more}))
        return [name for _, name in found.bench.windows.shown.values()]

    assert shown() == []
    assert shown(tmux=True) == ["work"]


@proves("agent settings.sandbox", "sandbox.kind", "sandbox.network")
def test_a_sandbox_confines_the_process_of_the_agent(run: Benches) -> None:
    def confined(**more: object) -> list[bool]:
        return [each.network for each in run(flow({**AGENT, **more})).bench.sandbox.confined]

    assert confined() == []
    assert confined(sandbox="bwrap") == [True]
    assert confined(sandbox={"kind": "none"}) == []
    assert confined(sandbox={"kind": "bwrap", "network": False}) == [False]


@proves("agent settings.no_comment")
def test_an_agent_that_may_not_comment_is_denied_the_tools_of_trackers(run: Benches) -> None:
    free, quiet = (run(flow({**AGENT, **more})).calls[0] for more in ({}, {"no_comment": True}))
    assert (free.no_comment, quiet.no_comment) == (False, True)


@proves("agent settings.no_comment")
def test_an_agent_that_may_not_comment_is_told_so_launched_or_connected(both: Benches) -> None:
    usual, quiet = both(flow(AGENT)).prompt, both(flow({**AGENT, "no_comment": True})).prompt
    assert "Write nothing to the issue tracker" in quiet
    assert "Write nothing to the issue tracker" not in usual


@proves("agent settings.no_comment")
def test_the_result_of_an_agent_that_may_not_comment_is_still_posted(run: Benches) -> None:
    found = run(flow({**AGENT, "no_comment": True}), plays={"work": Play("The cart forgets free items.")})
    posted = write_progress(collect_progress(found.bench.log, found.state, WorkState()))
    assert "The cart forgets free items." in posted


@proves("agent step.prompt")
def test_a_prompt_is_text_or_the_name_of_a_file(both: Benches) -> None:
    assert "Do the work." in both(flow(AGENT)).prompt
    named = both(flow({"name": "work", "prompt": "paint"}), prompts={"paint": "Paint the fence."})
    assert "Paint the fence." in named.prompt


@pytest.mark.parametrize("word", ["requires_approval", "require_confirmation"])
@proves("agent step.requires_approval", "agent step.require_confirmation")
def test_requires_approval_waits_for_a_person_after_the_step(both: Benches, word: str) -> None:
    last = {"name": "last", "command": "echo last"}
    assert both(flow(AGENT, last)).commands == ["echo last"]
    waits = both(flow({**AGENT, word: True}, last))
    assert (waits.status, waits.commands) == ("waiting", [])
    assert waits.answer("approve").commands == ["echo last"]


@proves("agent settings.suppress_thoughts", "agent settings.suppress_thought_posting")
@pytest.mark.parametrize("key", ["suppress_thoughts", "suppress_thought_posting"])
def test_what_an_agent_says_is_not_posted_if_its_thoughts_are_suppressed(run: Benches, key: str) -> None:
    def posted(**keys: Any) -> str:
        found = run(flow({**AGENT, **keys}), plays={"work": Play("I looked at the code.")})
        return write_progress(collect_progress(found.bench.log, found.state, WorkState()))

    (said, quiet) = (text.split("- [x]")[1] for text in (posted(), posted(**{key: True})))
    assert "I looked at the code." in said
    assert "I looked at the code." not in quiet
    assert "I looked at the code." in posted(**{key: True}), "the result is posted"

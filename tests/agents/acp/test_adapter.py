"""Any agent of the Agent Client Protocol, through the bridge: a small one of our own plays its part."""

import sys
from pathlib import Path

import pytest

from handrail.agents.acp.adapter import AcpAgent
from handrail.agents.acp.permissions import answer, refusal
from handrail.model.workflow.settings import Access
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agents import Usage, unmet
from support.agents.call_room import CallRoom
from support.places import SUPPORT

FAKE = str(SUPPORT / "agents" / "fake_acp.py")
ALL: tuple[tuple[Access, tuple[str, ...]], ...] = (("read", ()), ("edit", ()), ("full", ()))


@pytest.fixture
def calls(tmp_path: Path) -> CallRoom:
    return CallRoom(tmp_path)


def agent(*words: str) -> AcpAgent:
    command = (sys.executable, FAKE, *words)
    return AcpAgent(AgentDefinition(name="fake", protocol="acp", command=command, access=ALL))


def test_words_session_tokens_and_cost_are_read(calls: CallRoom) -> None:
    outcome = calls.play(agent(), "say:first read:a.txt cost:0.25 say:last")
    assert (outcome.status, outcome.text, outcome.session) == ("ok", "last", "acp-1")
    assert (outcome.usage, outcome.cost, outcome.message) == (Usage(7, 3, 2), 0.25, "")
    assert calls.shown == ["first", "read a.txt", "last"]


def test_full_access_grants_what_is_asked(calls: CallRoom) -> None:
    assert calls.play(agent(), "execute edit:../outside.txt").message == ""
    assert (calls.workspace / "ran").exists()
    assert (calls.root / "outside.txt").exists()


def test_access_read_grants_no_change_and_names_what_it_denied(calls: CallRoom) -> None:
    outcome = calls.play(agent(), "read:a.txt edit:a.txt execute say:tried", access="read")
    assert (outcome.status, outcome.text) == ("ok", "tried")
    assert outcome.message == "denied: edit a.txt, execute"
    assert list(calls.workspace.iterdir()) == []


def test_access_edit_grants_changes_inside_the_work_tree_alone(calls: CallRoom) -> None:
    outcome = calls.play(
        agent(), "edit:in.txt execute edit:../out.txt edit:.git/config edit: switch_mode", access="edit"
    )
    assert sorted(each.name for each in calls.workspace.iterdir()) == ["in.txt", "ran"]
    assert outcome.message == "denied: edit ../out.txt, edit .git/config, edit, switch_mode"


def test_a_conversation_goes_on_without_its_past_and_without_its_earlier_cost(calls: CallRoom) -> None:
    outcome = calls.play(agent("load"), "cost:0.5 say:more", session="acp-7")
    assert (outcome.status, outcome.text, outcome.session, outcome.cost) == ("ok", "more", "acp-7", None)


def test_an_agent_that_cannot_go_on_says_so(calls: CallRoom) -> None:
    outcome = calls.play(agent(), "say:more", session="acp-7")
    assert (outcome.status, outcome.session) == ("api_error", None)
    assert outcome.message == "session/load: this agent cannot continue an earlier conversation"


@pytest.mark.parametrize(
    ("prompt", "status"),
    [
        ("stop:max_tokens", "limit"),
        ("stop:refusal", "api_error"),
        ("stop:something", "api_error"),
        ("fail:401", "auth"),
        ("fail:429", "rate_limited"),
        ("fail:529", "overloaded"),
        ("fail:-32603", "api_error"),
        ("die", "crashed"),
    ],
)
def test_every_end_has_its_status(calls: CallRoom, prompt: str, status: str) -> None:
    outcome = calls.play(agent(), prompt)
    assert outcome.status == status
    assert outcome.message


def test_who_is_not_logged_in_is_told_so(calls: CallRoom) -> None:
    outcome = calls.play(agent("locked"), "say:x")
    assert (outcome.status, outcome.message) == ("auth", "session/new: Authentication required")


def test_neither_files_nor_terminals_are_offered(calls: CallRoom) -> None:
    assert calls.play(agent(), "files").text == "-32601"


def test_an_interrupt_lets_the_agent_end_by_itself(calls: CallRoom) -> None:
    fake = agent()
    spec = calls.start(fake, calls.call("say:begun wait"))
    calls.until(calls.workspace / "waiting")
    outcome = calls.end(fake, spec)
    assert (outcome.status, outcome.text, outcome.session) == ("cancelled", "begun", "acp-1")


def test_what_the_protocol_does_not_have_is_refused(calls: CallRoom) -> None:
    asked = calls.call(model="m", single_turn=True, allowed_tools=("Read",))
    assert unmet("fake", agent().can, asked) == (
        "fake: `allowed_tools` cannot be enforced",
        "fake: `single_turn` cannot be enforced",
        "fake: the model cannot be selected",
    )


def test_nothing_is_granted_for_ever_where_the_access_has_bounds() -> None:
    always = {"options": [{"optionId": "a", "kind": "allow_always"}]}
    assert answer(always, "", "edit") == {"outcome": {"outcome": "cancelled"}}
    assert answer(always, "", "full") == {"outcome": {"outcome": "selected", "optionId": "a"}}
    assert answer({"options": None}, "no", "read") == {"outcome": {"outcome": "cancelled"}}


def test_a_diff_names_the_file_that_is_changed(tmp_path: Path) -> None:
    inside = {"kind": "edit", "content": [{"type": "diff", "path": str(tmp_path / "a")}]}
    assert refusal("edit", str(tmp_path), inside) == ""
    outside = {"kind": "edit", "content": [{"type": "diff", "path": "/etc/passwd"}], "locations": inside["content"]}
    assert "outside the worktree" in refusal("edit", str(tmp_path), outside)

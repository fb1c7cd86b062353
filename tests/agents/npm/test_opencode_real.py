"""The real opencode against the scripted model: what it does, and what it cannot do and is refused."""

from collections.abc import Iterator

import pytest

from handrail.agents.opencode.adapter import OpencodeAgent
from handrail.ports.agents import Usage, unmet
from handrail.testing.models.scripts import Call, Cut, Fail, Hang, Say, Scripts, Shell, Structured
from support.agents.npm_room import LARGE, NpmRoom, rooms, settle_opencode

pytestmark = pytest.mark.system("opencode")
SCRIPTS: Scripts = {
    "edit": [Call("write", {"filePath": "a.txt", "content": "hi"}), Shell("echo ho > b.txt"), Say("done it")],
    "more": [Say("more")],
    "outside": [Call("write", {"filePath": "/var/tmp/handrail-outside.txt", "content": "x"}), Say("tried")],
    "shape": [Structured({"ok": True})],
    "large": [Say("x" * LARGE)],
    "login": [Fail(401, "no key")],
    "wrong": [Fail(400, "bad thing")],
    "cut": [Cut(), Say("whole")],
    "hang": [Shell("setsid sleep 300 & touch begun"), Hang()],
    "limited": [Fail(429, "slow down")] * 9,
}


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    for made in rooms(OpencodeAgent(), "opencode", SCRIPTS, monkeypatch):
        settle_opencode(made)
        yield made


def test_it_edits_and_its_conversation_goes_on_with_tokens_and_cost_of_each_call_alone(room: NpmRoom) -> None:
    first = room.play("edit", access="edit")
    assert (first.status, first.text, first.usage) == ("ok", "done it", Usage(3000, 300, 0))
    assert first.cost == pytest.approx(0.006)
    assert sorted(each.name for each in room.workspace.iterdir()) == ["a.txt", "b.txt"]
    more = room.play("more", session=first.session, access="edit", model="local/m")
    assert (more.status, more.text, more.session) == ("ok", "more", first.session)
    assert (more.usage, more.cost) == (Usage(1000, 100, 0), pytest.approx(0.002))
    assert "[[s:edit]]" in str(room.model.asked("more")[0])


def test_access_read_cannot_write_and_denied_tools_are_visible(room: NpmRoom) -> None:
    hostile = '{"agent": {"build": {"permission": {"edit": "allow"}}}, "permission": {"*": "allow", "bash": "allow"}}'
    (room.workspace / "opencode.json").write_text(hostile)
    read = room.play("edit", access="read")
    assert (read.status, read.message) == ("ok", "denied: write, bash")
    assert [each.name for each in room.workspace.iterdir()] == ["opencode.json"]


def test_a_listed_tool_is_denied_and_edit_writes_nothing_outside(room: NpmRoom) -> None:
    listed = room.play("edit", access="full", disallowed_tools=("Bash",))
    assert listed.message == "denied: bash"
    assert [each.name for each in room.workspace.iterdir()] == ["a.txt"]
    assert room.play("outside", access="edit").message == "denied: write"


def test_errors_of_the_service_have_their_status(room: NpmRoom) -> None:
    assert (room.play("login").status, room.play("wrong").status) == ("auth", "api_error")


def test_a_result_comes_as_text_and_a_line_of_two_megabytes_is_read(room: NpmRoom) -> None:
    assert room.play("shape").text == '{"ok": true}'
    assert len(room.play("large").text) == LARGE


def test_an_answer_that_breaks_off_is_asked_for_again_by_itself(room: NpmRoom) -> None:
    outcome = room.play("cut")
    assert (outcome.status, outcome.text) == ("ok", "whole")


def test_a_call_that_hangs_is_stopped_with_all_it_started(room: NpmRoom) -> None:
    spec = room.start(room.call("hang"))
    room.until(room.workspace / "begun")
    outcome = room.end(spec)
    assert outcome.status in ("crashed", "cancelled")
    assert outcome.session
    assert room.escaped() == ()


def test_a_limit_that_it_waits_out_by_itself_can_be_stopped(room: NpmRoom) -> None:
    spec = room.start(room.call("limited"))
    assert room.end(spec).status == "crashed"
    assert room.escaped() == ()


def test_what_it_cannot_do_is_refused(room: NpmRoom) -> None:
    asked = room.call("edit", single_turn=True)
    assert unmet("opencode", room.agent.can, asked) == ("opencode: `single_turn` cannot be enforced",)
    assert not room.agent.can.schema

"""The real Gemini CLI against the scripted model: what it does, and what it cannot do and is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.agents.gemini.adapter import GeminiAgent
from handrail.ports.agents import AgentOutcome, Usage, unmet
from handrail.testing.models.scripts import Call, Cut, Fail, Hang, Say, Scripts, Shell, Structured
from support.agents.npm_room import LARGE, NpmRoom, rooms, settle_gemini

pytestmark = pytest.mark.system("gemini")
MODEL = "gemini-3-pro"
SCRIPTS: Scripts = {
    "edit": [Call("write_file", {"file_path": "a.txt", "content": "hi"}), Shell("echo ho > b.txt"), Say("done it")],
    "more": [Say("more")],
    "outside": [
        Call("write_file", {"file_path": "/var/tmp/handrail-outside.txt", "content": "x"}),
        Call("write_file", {"file_path": "link/a.txt", "content": "x"}),
        Call("replace", {"file_path": ".git/config", "old_string": "a", "new_string": "b", "instruction": "x"}),
        Say("tried"),
    ],
    "command": [Shell("echo x > ../outside.txt"), Say("ran")],
    "shape": [Structured({"ok": True})],
    "large": [Call("write_file", {"file_path": "large.txt", "content": "x" * LARGE}), Say("done it")],
    "loop": [Say("x" * LARGE)],
    "login": [Fail(401, "no key")],
    "wrong": [Fail(400, "bad thing")],
    "limited": [Fail(429, "slow down")] * 9,
    "broken": [Fail(500, "boom")] * 9,
    "cut": [Cut()] * 9,
    "hang": [Shell("setsid sleep 300 & touch begun"), Hang()],
}


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    for made in rooms(GeminiAgent(), "gemini", SCRIPTS, monkeypatch):
        settle_gemini(made)
        yield made


def play(room: NpmRoom, script: str, **changes: object) -> AgentOutcome:
    return room.play(script, model=MODEL, **changes)


def test_it_edits_and_its_conversation_goes_on_with_tokens_of_each_call_alone(room: NpmRoom) -> None:
    first = play(room, "edit", access="edit")
    assert (first.status, first.text, first.usage, first.cost) == ("ok", "done it", Usage(3000, 300, 0), None)
    assert sorted(each.name for each in room.workspace.iterdir()) == ["a.txt", "b.txt"]
    more = play(room, "more", session=first.session)
    assert (more.status, more.text, more.session) == ("ok", "more", first.session)
    assert more.usage == Usage(1000, 100, 0)
    assert "[[s:edit]]" in str(room.model.asked("more")[0])


def test_access_read_cannot_write_and_denied_tools_are_visible(room: NpmRoom) -> None:
    read = play(room, "edit", access="read")
    assert (read.status, read.message) == ("ok", "denied: write_file, run_shell_command")
    assert list(room.workspace.iterdir()) == []


def test_a_listed_tool_is_denied(room: NpmRoom) -> None:
    listed = play(room, "edit", access="full", disallowed_tools=("Bash",))
    assert listed.message == "denied: run_shell_command"
    assert [each.name for each in room.workspace.iterdir()] == ["a.txt"]


def test_access_edit_keeps_its_file_tools_in_the_work_tree_and_out_of_git_but_not_its_commands(room: NpmRoom) -> None:
    (room.workspace / ".git").mkdir()
    (room.workspace / ".git" / "config").write_text("a")
    (room.root / "elsewhere").mkdir()
    (room.workspace / "link").symlink_to(room.root / "elsewhere")
    kept = play(room, "outside", access="edit")
    assert (kept.status, kept.message) == ("ok", "denied: write_file, replace")
    assert not Path("/var/tmp/handrail-outside.txt").exists()
    assert list((room.root / "elsewhere").iterdir()) == []
    assert (room.workspace / ".git" / "config").read_text() == "a"
    play(room, "command", access="edit")
    assert (room.root / "outside.txt").exists(), "it can confine its commands now: say so in docs/agents.md"


def test_errors_of_the_service_have_their_status(room: NpmRoom) -> None:
    assert (play(room, "login").status, play(room, "wrong").status) == ("auth", "api_error")


@pytest.mark.parametrize(
    ("script", "status"), [("limited", "rate_limited"), ("broken", "api_error"), ("cut", "network")]
)
def test_what_it_tries_again_ends_in_time(room: NpmRoom, script: str, status: str) -> None:
    assert play(room, script).status == status


def test_a_result_comes_as_text_and_a_line_of_two_megabytes_is_read(room: NpmRoom) -> None:
    assert play(room, "shape").text == '{"ok": true}'
    assert play(room, "large").text == "done it"
    assert (room.workspace / "large.txt").stat().st_size == LARGE
    assert play(room, "loop").status == "limit"


def test_an_unknown_conversation_is_said(room: NpmRoom) -> None:
    outcome = play(room, "more", session="99111111-1111-4111-8111-111111111111")
    assert (outcome.status, outcome.session) == ("api_error", None)


def test_a_call_that_hangs_is_stopped_with_all_it_started(room: NpmRoom) -> None:
    spec = room.start(room.call("hang", model=MODEL))
    room.until(room.workspace / "begun")
    outcome = room.end(spec)
    assert outcome.status in ("crashed", "cancelled")
    assert outcome.session
    assert room.escaped() == ()


def test_what_it_cannot_do_is_refused(room: NpmRoom) -> None:
    asked = room.call("edit", single_turn=True)
    assert unmet("gemini", room.agent.can, asked) == ("gemini: `single_turn` cannot be enforced",)
    assert not room.agent.can.schema
    assert not room.agent.can.cost

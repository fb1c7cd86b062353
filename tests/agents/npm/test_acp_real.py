"""Real agents of the Agent Client Protocol, through the bridge: Gemini CLI and opencode."""

from collections.abc import Iterator

import pytest

from handrail.agents.acp.adapter import AcpAgent
from handrail.ports.agent_definitions import AgentDefinition
from handrail.testing.models.scripts import Call, Fail, Hang, Say, Scripts, Shell
from support.agents.npm_room import NpmRoom, rooms, settle_gemini, settle_opencode

pytestmark = pytest.mark.system("gemini", "opencode")
SCRIPTS: Scripts = {
    "gemini": [Call("write_file", {"file_path": "a.txt", "content": "hi"}), Shell("echo ho > b.txt"), Say("done it")],
    "opencode": [Call("write", {"filePath": "a.txt", "content": "hi"}), Shell("echo ho > b.txt"), Say("done it")],
    "more": [Say("more")],
    "wrong": [Fail(400, "bad thing")],
    "hang": [Shell("touch begun"), Hang()],
}
COMMANDS = {
    "gemini": ("gemini", "--acp", "--model=gemini-3-pro", "--skip-trust"),
    "opencode": ("opencode", "acp"),
}


def rooms_for(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    definition = AgentDefinition(
        name=name, protocol="acp", command=COMMANDS[name], access=(("read", ()), ("edit", ()), ("full", ()))
    )
    for made in rooms(AcpAgent(definition), name, SCRIPTS, monkeypatch):
        (settle_gemini if name == "gemini" else settle_opencode)(made)
        yield made


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    yield from rooms_for("gemini", monkeypatch)


@pytest.fixture
def opencode(monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    yield from rooms_for("opencode", monkeypatch)


def test_gemini_edits_asks_before_it_does_and_is_denied_where_it_may_only_read(gemini: NpmRoom) -> None:
    read = gemini.play("gemini", access="read")
    assert list(gemini.workspace.iterdir()) == []
    assert read.message.startswith("denied: ")
    edit = gemini.play("gemini", access="edit")
    assert (edit.status, edit.text) == ("ok", "done it")
    assert sorted(each.name for each in gemini.workspace.iterdir()) == ["a.txt", "b.txt"]


def test_gemini_tells_an_error_of_the_service(gemini: NpmRoom) -> None:
    outcome = gemini.play("wrong")
    assert (outcome.status, "bad thing" in outcome.message) == ("api_error", True)


def test_opencode_edits_and_its_conversation_goes_on(opencode: NpmRoom) -> None:
    first = opencode.play("opencode")
    assert (first.status, first.text) == ("ok", "done it")
    assert sorted(each.name for each in opencode.workspace.iterdir()) == ["a.txt", "b.txt"]
    more = opencode.play("more", session=first.session)
    assert (more.status, more.text, more.session) == ("ok", "more", first.session)


def test_a_call_that_hangs_is_stopped_with_all_it_started(gemini: NpmRoom) -> None:
    spec = gemini.start(gemini.call("hang"))
    gemini.until(gemini.workspace / "begun")
    assert gemini.end(spec).status == "cancelled"
    assert gemini.escaped() == ()

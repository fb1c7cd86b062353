"""The real opencode calls tools of Handrail, also where its step may only read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.agents.opencode.adapter import OpencodeAgent
from handrail.ports.agents import ToolServer
from handrail.runtime.handlers.agents.step_tools import TOKEN, TOOLS, server_command
from handrail.testing.models.scripts import Mcp, Say, Scripts
from support.agents.npm_room import NpmRoom, rooms, settle_opencode

pytestmark = pytest.mark.system("opencode")
SCRIPTS: Scripts = {"tool": [Mcp("handrail", "report_progress", {"message": "half of it"}), Say("told")]}


@pytest.fixture
def opencode(monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    for made in rooms(OpencodeAgent(), "opencode", SCRIPTS, monkeypatch):
        settle_opencode(made)
        yield made


def server(home: Path) -> ToolServer:
    """A server whose token names no step: what it answers shows that it was asked."""
    env = {TOKEN: "at_nothing", TOOLS: "report_progress", "HANDRAIL_HOME": str(home)}
    return ToolServer(server_command(), tuple(env.items()), ("report_progress",))


@pytest.mark.parametrize("access", ["read", "edit", "full"])
def test_opencode_is_given_the_tools_of_handrail(opencode: NpmRoom, tmp_path: Path, access: str) -> None:
    told = opencode.play("tool", access=access, server=server(tmp_path))
    assert (told.status, told.text) == ("ok", "told")
    assert "is not the token of a step" in str(opencode.model.asked("tool")[-1])

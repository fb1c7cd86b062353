"""The real Claude Code and Codex call tools of Handrail while they work, whatever their step forbids besides."""

import json

import pytest

from handrail.model.history.events import ToolCalled
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.history import events_of
from handrail.testing.models.scripts import Mcp, Say
from support.agents.opened_rooms import Open, opened, real_agents

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
REPORTS = Mcp("handrail", "report_progress", {"message": "the half is done", "percent": 50})
ASKS = Mcp("handrail", "ask_person", {"question": "Red or blue?"})
FORBIDDEN = Mcp("handrail", "list_runs", {})


@pytest.mark.parametrize("how", ["agent: claude, access: read, allowed_tools: [Read]", "agent: codex, access: read"])
def test_an_agent_reports_and_asks_and_goes_on_with_the_answer(opened: Open, how: str) -> None:
    room = opened(a=[REPORTS, FORBIDDEN, ASKS, Say("I wait."), Say("Blue it is.")])
    run = room.start(
        f"{{name: one, {how}, handrail_tools: [report_progress, ask_person], output: colour, prompt: 'Go. [[s:a]]'}}"
    )
    room.drive()
    assert (room.state(run).status, room.state(run).message) == ("waiting", "Red or blue?")
    called = [event for _, event in events_of(room.log, run) if isinstance(event, ToolCalled)]
    assert [(each.tool, each.success) for each in called if each.tool != "list_runs"] == [
        ("report_progress", True),
        ("ask_person", True),
    ]
    assert "end your turn now" in json.dumps(room.model.asked("a")[-1])
    asked = room.state(run).steps["one"].session
    runs.answer_in_words(room.writer, run, "Blue, please.", "ann")
    room.drive()
    state = room.state(run)
    assert (state.status, state.names["colour"]) == ("succeeded", "Blue it is.")
    assert state.steps["one"].session == asked

"""Who calls over MCP: no tool speaks for a person, and inside a step nobody can have been asked."""

import pytest

from handrail.model.actors import make_agent, make_connected
from handrail.model.history.events import RunStarted
from handrail.serve.mcp.step_tools import AGENT_TOOLS
from handrail.serve.mcp.tools import TOOLS
from support.pull.room import Pull, chain, definition, step

CONFIRMED = [{"kind": "wr.confirmation", "confirmed": True, "by": "the user"}]


def test_no_tool_speaks_for_a_person() -> None:
    """A tool that is added here is a decision: it must not approve, answer, trust, release, apply or discard."""
    assert {tool.name for tool in TOOLS} == {
        "list_workflows",
        "inspect_workflow",
        "start_workflow",
        "continue_workflow",
        "checkpoint_workflow",
        "resume_session",
    }
    assert {tool.name for tool in AGENT_TOOLS} == {
        "report_progress",
        "ask_person",
        "create_child_run",
        "give_feedback",
        "list_runs",
    }


@pytest.mark.parametrize("caller", [make_connected("claude"), make_agent("fix-1", "a")])
def test_a_run_names_who_started_it(pull: Pull, caller: object) -> None:
    pull.calls.ctx.caller = caller  # type: ignore[assignment]
    first = pull.events(pull.start(chain(1)).run)[0]
    assert isinstance(first, RunStarted)
    assert first.by == str(caller)


def test_a_confirmation_counts_from_an_agent_that_a_person_talks_to(pull: Pull) -> None:
    at = pull.start(definition(step("one", requireConfirmation=True)))
    assert pull.advance(at, artifacts=CONFIRMED).complete


def test_inside_a_step_a_confirmation_is_nobodys(pull: Pull) -> None:
    pull.calls.ctx.caller = make_agent("fix-1", "a")
    at = pull.start(definition(step("one", requireConfirmation=True)))
    for artifacts in (CONFIRMED, []):
        refused = pull.advance(at, artifacts=artifacts)
        assert refused.code == "USER_ONLY_DEPENDENCY"
    assert pull.state(at.run).status == "running"

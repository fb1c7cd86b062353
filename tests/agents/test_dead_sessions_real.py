"""A conversation that an agent does not know any more: the step begins a new one, told the run so far."""

import shutil

import pytest

from handrail.model.history.events import StepBegan, StepEnded
from handrail.runtime.event_records import decode_event
from handrail.testing.models.scripts import Say
from support.agents.opened_rooms import Open, opened, real_agents

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
KEPT_IN = {"claude": "claude/projects", "codex": "codex/sessions"}
SAYS = {
    "claude": "No conversation found with session ID",
    "codex": "no rollout found for thread id",
}


@pytest.mark.parametrize("agent", KEPT_IN)
def test_a_step_whose_conversation_is_gone_begins_a_new_one_without_a_try_charged(opened: Open, agent: str) -> None:
    room = opened(a=[Say("The plan is made.")], b=[Say("Done.")])
    gone = room.home.root / KEPT_IN[agent]
    run = room.start(
        f"{{name: plan, agent: {agent}, access: full, prompt: 'Make a plan. [[s:a]]'}}",
        f"{{name: forget, command: 'rm -r {gone}'}}",
        f"{{name: build, agent: {agent}, access: full, session: plan, prompt: 'Build it. [[s:b]]'}}",
    )
    room.drive()
    events = [decode_event(each) for each in room.log.read(run)]
    first, second = [each for each in events if isinstance(each, StepBegan) and each.address == "build"]
    failed, done = [each for each in events if isinstance(each, StepEnded) and each.address == "build"]
    assert (failed.status, done.status, room.state(run).status) == ("failed", "succeeded", "succeeded")
    assert SAYS[agent] in failed.error
    assert failed.error.endswith(
        f"the conversation {first.spec['session']} no longer exists, so the step starts a new one"
    )
    assert second.spec["session"] == ""
    assert (first.attempt, second.attempt) == (1, 1)
    assert "The plan is made." in str(second.spec["prompt"])
    assert "The plan is made." not in str(first.spec["prompt"])
    assert room.state(run).steps["plan"].session == ""
    shutil.rmtree(gone, ignore_errors=True)

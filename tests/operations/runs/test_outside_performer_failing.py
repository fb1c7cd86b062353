"""An outside performer that cannot do its step says so, and the run does what it would do after its own failure."""

import pytest
from inline_snapshot import snapshot

from handrail.errors import UsageError
from handrail.model.history.events import RetryScheduled, StepEnded
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.outside_performer import PendingStep, complete_step, fail_step, pending_step
from support.runtime.room import Room, assert_sound, of_kind


def held(room: Room, steps: str) -> str:
    run = room.start(f"name: x\nsteps:\n{steps}")
    runs.take(room.writer, run, "agent")
    room.drive()
    return run


def pending(room: Room, run: str) -> PendingStep:
    found = pending_step(room.log, run)
    assert found is not None
    return found


def test_a_step_that_failed_outside_fails_its_run_with_the_message(room: Room) -> None:
    run = held(room, "  - {name: a, command: x, on_fail: fail}\n")
    state = fail_step(room.writer, run, pending(room, run).seq, "the service is down", "agent")
    assert (state.status, state.message) == snapshot(("failed", "step 'a' failed: the service is down"))
    ended = of_kind(room.log, run, StepEnded)
    assert [(each.status, each.error, each.by) for each in ended] == [("failed", "the service is down", "agent")]
    assert_sound(room.log)


def test_the_tries_of_a_step_count_outside_too(room: Room) -> None:
    run = held(room, "  - {name: a, command: x, retry: 1, output: o}\n")
    first = pending(room, run)
    fail_step(room.writer, run, first.seq, "no luck", "agent")
    second = pending(room, run)
    assert (second.address, second.attempt) == ("a", 2)
    assert complete_step(room.writer, run, second.seq, "made", "agent").names["o"] == "made"
    assert room.state(run).status == "succeeded"


def test_the_wait_before_a_try_is_kept_outside_too(room: Room) -> None:
    run = held(room, "  - {name: a, command: x, retry: {max: 1, backoff: 10s}}\n")
    fail_step(room.writer, run, pending(room, run).seq, "no luck", "agent")
    assert room.state(run).reason == "timer"
    assert pending_step(room.log, run) is None
    due = of_kind(room.log, run, RetryScheduled)[0].due
    room.drive(lambda: due)
    assert pending(room, run).attempt == 2


@pytest.mark.parametrize(("on_fail", "status"), [("continue", "succeeded"), ("block", "blocked"), ("fail", "failed")])
def test_on_fail_counts_outside_too(room: Room, on_fail: str, status: str) -> None:
    run = held(room, f"  - {{name: a, command: x, on_fail: {on_fail}}}\n")
    assert fail_step(room.writer, run, pending(room, run).seq, "no", "agent").status == status


def test_a_step_of_an_agent_fails_and_is_tried_again_from_outside(room: Room) -> None:
    run = held(room, "  - {name: think, type: agent, prompt: Think hard., retry: 1, on_fail: fail}\n")
    fail_step(room.writer, run, pending(room, run).seq, "nothing came", "agent")
    assert pending(room, run).attempt == 2
    assert fail_step(room.writer, run, pending(room, run).seq, "again nothing", "agent").status == "failed"


def test_a_failure_needs_a_reason_the_holder_and_what_is_pending(room: Room) -> None:
    run = held(room, "  - {name: a, command: x}\n")
    seq = pending(room, run).seq
    with pytest.raises(UsageError, match="say why step 'a' failed"):
        fail_step(room.writer, run, seq, "  ", "agent")
    with pytest.raises(UsageError, match="held by agent"):
        fail_step(room.writer, run, seq, "no", "somebody else")
    with pytest.raises(UsageError, match="not what is pending"):
        fail_step(room.writer, run, seq + 1, "no", "agent")
    assert of_kind(room.log, run, StepEnded) == []


def test_a_failed_step_does_not_leave_its_loop(room: Room) -> None:
    steps = (
        "  - name: l\n    type: loop\n    for: 2\n    max_iterations: 5\n    steps:\n"
        "      - {name: a, command: x, on_success: exit_loop, on_fail: continue}\n"
    )
    run = held(room, steps)
    fail_step(room.writer, run, pending(room, run).seq, "no", "agent")
    assert pending(room, run).address == "l@2/a"

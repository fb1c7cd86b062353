"""What happens to a step that is refused: it stays pending, and a person is asked when it goes on too long."""

import pytest
from inline_snapshot import snapshot

from handrail.engine.decide.complete_guided import MAX_REFUSALS, Submission
from handrail.errors import UsageError
from handrail.model.history.events import RunReleased, RunResumed, RunTaken, StepRefused
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import GuidedWalk, guided_plan, step
from support.engine.walking import plan_of

NOTHING = Submission(by="me")


def begun() -> GuidedWalk:
    return GuidedWalk(guided_plan(step("one"), step("two"))).start().settle()


def refused(times: int) -> GuidedWalk:
    walk = begun()
    for _ in range(times):
        assert walk.give(NOTHING).is_refused
    return walk


def test_a_step_that_is_refused_ten_times_blocks_the_run() -> None:
    assert refused(MAX_REFUSALS - 1).state.status == "running"
    walk = refused(MAX_REFUSALS)
    assert (walk.state.status, walk.state.reason) == ("blocked", "step")
    assert walk.state.message == snapshot("step 'one' was refused 10 times, most recently because the step needs notes")
    assert walk.state.next_step == snapshot(
        "see what was submitted: handrail show r-1 one; then start over: handrail resume r-1"
    )
    assert [event.kind for event in walk.events[-2:]] == ["step_refused", "run_blocked"]
    assert len([event for event in walk.events if isinstance(event, StepRefused)]) == MAX_REFUSALS


def test_tries_count_for_one_step_only() -> None:
    walk = refused(MAX_REFUSALS - 1)
    assert not walk.give(Submission(by="me", notes="done")).is_refused
    walk.settle()
    walk.give(NOTHING)
    assert walk.state.status == "running"


def test_who_takes_the_blocked_run_again_has_one_more_try() -> None:
    walk = refused(MAX_REFUSALS)
    walk.record(RunReleased(by="me", at=1.0), RunTaken(by="me", at=1.0))
    assert walk.settle().state.status == "running"
    assert walk.give(NOTHING).is_refused
    assert walk.state.status == "blocked"
    walk.record(RunReleased(by="me", at=1.0), RunTaken(by="me", at=1.0))
    assert not walk.give(Submission(by="me", notes="done")).is_refused
    assert walk.settle().go().state.status == "succeeded"


def test_a_resume_begins_the_step_anew_with_all_its_tries() -> None:
    walk = refused(MAX_REFUSALS)
    walk.record(RunReleased(by="me", at=1.0), RunResumed(by="me", at=1.0))
    walk.settle()
    walk.record(RunTaken(by="me", at=1.0))
    walk.settle()
    assert walk.state.pending is not None
    assert walk.state.pending.attempt == 1


def test_a_context_that_is_too_large_or_reserved_is_refused_and_not_merged() -> None:
    walk = begun()
    deep: JsonValue = []
    for _ in range(70):
        deep = [deep]
    for context in ({"x": "y" * 262_144}, {"__proto__": 1}, {"deep": deep}, {"n": float("nan")}):
        done = walk.give(Submission(by="me", notes="done", context=context))
        assert [each.code for each in done.shortfalls] == ["bad_context"]
    assert dict(walk.state.context.items()) == {"goal": "the goal"}


def test_a_step_that_is_not_guided_is_not_completed_this_way() -> None:
    walk = GuidedWalk(plan_of("name: a\nsteps:\n  - {name: x, command: a}\n")).start().settle()
    with pytest.raises(UsageError, match="is not a guided step"):
        walk.give(Submission(by="me", notes="done"))

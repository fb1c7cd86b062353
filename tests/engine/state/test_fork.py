"""Copies of runs as they are: waiting, paused, refused; each goes on as its source would."""

from dataclasses import replace

from handrail.engine.decide.advance import advance
from handrail.engine.decide.complete_guided import Submission
from handrail.model.history.events import RunResumed, RunTaken, RunWaits, StepBegan, StepRefused, TimerFired
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import GuidedWalk, guided_plan, loop, step, var
from support.engine.walking import Walk, copy_of, plan_of

RETRYING = "name: a\nsteps:\n  - {name: x, command: a, retry: {max: 2, backoff: 10s}}\n"


def second_try(began: StepBegan) -> tuple[bool, JsonValue]:
    return began.attempt > 1, None


def waiting() -> Walk:
    """A run that waits for its second try."""
    walk = Walk(plan_of(RETRYING), second_try).start().go()
    assert walk.state.reason == "timer"
    return walk


def test_a_copy_of_a_run_that_waits_for_a_time_waits_for_the_same_time() -> None:
    source = waiting()
    copy = Walk(source.plan, second_try)
    copy_of(source, copy)
    assert (copy.state.status, copy.state.reason, copy.state.until) == ("waiting", "timer", source.state.until)
    copy.record(TimerFired(key="retry", at=2000.0))
    copy.go()
    assert copy.state.steps["x"].attempts == 2
    assert copy.state.status == "succeeded"


def test_a_pause_in_a_wait_keeps_the_tries_and_the_rest_of_the_wait() -> None:
    walk = waiting()
    until = walk.state.until
    walk.record(RunWaits(reason="pause", message="paused", at=walk.now))
    assert (walk.state.reason, walk.state.until) == ("pause", None)
    walk.record(RunResumed(by="me", at=walk.now))
    assert (walk.state.status, walk.state.reason, walk.state.until) == ("waiting", "timer", until)
    assert advance(walk.plan, walk.state, walk.now, walk.blobs.__getitem__).events == ()
    walk.record(TimerFired(key="retry", at=walk.now))
    walk.go()
    assert (walk.state.status, walk.state.steps["x"].attempts) == ("succeeded", 2)


def test_a_resume_in_a_wait_that_is_not_paused_tries_at_once() -> None:
    walk = waiting()
    walk.record(RunResumed(by="me", at=walk.now))
    assert (walk.state.status, walk.state.until) == ("running", None)


def test_a_copy_of_a_paused_run_is_not_paused() -> None:
    source = waiting()
    until = source.state.until
    source.record(RunWaits(reason="pause", message="paused", at=source.now))
    copy = Walk(source.plan, second_try)
    copy_of(source, copy)
    assert (copy.state.status, copy.state.reason, copy.state.until) == ("waiting", "timer", until)
    plain = Walk(plan_of("name: a\nsteps:\n  - {name: x, command: a}\n")).start()
    plain.record(RunWaits(reason="pause", message="paused", at=plain.now))
    copy = Walk(plain.plan)
    copy_of(plain, copy)
    assert copy.state.status == "running"
    assert copy.go().state.status == "succeeded"


def refused_in_a_loop() -> GuidedWalk:
    """A run whose refused call brought a context that ends the loop around its step."""
    plan = guided_plan(loop("again", step("look"), type="while", condition=var("more", equals="yes")), step("last"))
    walk = GuidedWalk(plan, inputs={"more": "yes"}).start().settle()
    walk.give(Submission(by="me", context={"more": "no"}))
    walk.give(Submission(by="me", context={"seen": 1}))
    return walk


def test_a_copy_taken_between_a_refusal_and_the_next_try_has_the_same_pending_step_and_refusals() -> None:
    source = refused_in_a_loop()
    copy = GuidedWalk(source.plan)
    copy_of(source, copy)
    copy.settle()
    copy.record(RunTaken(by="me", at=copy.now))
    copy.settle()
    pending, original = copy.state.pending, source.state.pending
    assert pending is not None
    assert original is not None
    assert replace(pending, seq=0) == replace(original, seq=0)
    assert (pending.address, pending.attempt) == ("again@1/look", 3)
    told = [event.shortfalls for event in source.events if isinstance(event, StepRefused)]
    assert [event.shortfalls for event in copy.events if isinstance(event, StepRefused)] == told
    assert copy.began().spec == source.began().spec
    assert copy.state.context == source.state.context
    copy.go()
    source.go()
    assert copy.performed == source.performed == ["again@1/look", "last"]
    assert copy.state.status == source.state.status == "succeeded"


def test_a_copy_of_a_copy_between_tries_is_the_same_again() -> None:
    source = refused_in_a_loop()
    first, second = GuidedWalk(source.plan), GuidedWalk(source.plan)
    copy_of(source, first)
    copy_of(first, second)
    assert [event.kind for event in second.events] == [event.kind for event in first.events]
    assert second.state.pending == first.state.pending

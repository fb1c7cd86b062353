"""The laws of the engine, on random plans with random performers."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.decide.advance import advance, decide
from handrail.engine.decide.from_outside import Answer
from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state, encode_state
from handrail.engine.state.transitions import ALLOWED, IllegalMove, require_allowed
from handrail.model.history.events import RunResumed, StepBegan, StepEnded, TimerFired
from handrail.model.workflow.actions import (
    Action,
    ApprovalAction,
    CallAction,
    Checks,
    Each,
    EndAction,
    GateAction,
    LoopAction,
    NamedCommand,
    ScriptAction,
    Times,
    Until,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import OnFail, Retry
from handrail.model.workflow.values import Command, Constant, Expression, JsonValue
from support.engine.walking import Walk, replay

CONDITIONS = (
    "true",
    "false",
    "run.workflow == 'random'",
    "steps.missing is defined",
    "previous_step.status == 'succeeded'",
)
ON_FAIL: tuple[OnFail, ...] = ("block", "fail", "continue", "warn")


@st.composite
def steps(draw: st.DrawFn, depth: int = 2, prefix: str = "s") -> tuple[Step, ...]:
    """A list of steps of every kind that the engine performs."""
    found: list[Step] = []
    for number in range(draw(st.integers(1, 3))):
        name = f"{prefix}{number}"
        action = draw(_action(depth, name))
        found.append(
            Step(
                name=name,
                action=action,
                when=Expression(draw(st.sampled_from(CONDITIONS))) if draw(st.integers(0, 3)) == 0 else None,
                retry=Retry(draw(st.integers(0, 2)), draw(st.sampled_from([0, 0, 5]))),
                on_fail=draw(st.sampled_from(ON_FAIL)),
                output=f"o{name}" if draw(st.booleans()) else None,
            )
        )
    return tuple(found)


def _action(depth: int, name: str) -> st.SearchStrategy[Action]:
    command = Command(f"echo {name}")
    options: list[st.SearchStrategy[Action]] = [
        st.just(ScriptAction(command)),
        st.just(ScriptAction(command, on_success="exit_loop")),
        st.just(GateAction(checks=Checks(commands=(NamedCommand("c", command),)))),
        st.just(ApprovalAction(message=Constant("ok?"))),
        st.just(CallAction("other")),
        st.just(EndAction(status="succeeded")),
    ]
    if depth > 0:
        inner = steps(depth - 1, f"{name}_")
        over = st.sampled_from(
            [
                Times(Constant(2)),
                Until(Expression("round >= 2")),
                Each(Constant([{"id": "a"}, {"id": "b"}])),
            ]
        )
        made = st.builds(
            LoopAction,
            over=over,
            steps=inner,
            max_iterations=st.integers(1, 3),
            on_max=st.sampled_from(["continue", "block", "fail"]),
        )
        options += [made, made]
    return st.one_of(*options)


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    """A run of a random plan, walked as far as a chance performer and a chance person take it."""
    plan = Plan(name="random", steps=draw(steps()))
    return _walked(plan, draw(st.integers(0, 1000)))


def _walked(plan: Plan, seed: int) -> Walk:
    walk = _begun(plan, seed).start()
    _go(walk, seed)
    return walk


def _begun(plan: Plan, seed: int) -> Walk:
    def perform(began: StepBegan) -> tuple[bool, JsonValue]:
        # By address and try, not by order: a performer that gives the same answer to the same question.
        chance = random.Random(f"{seed} {began.address} {began.attempt}")
        return chance.random() < 0.7, chance.randint(0, 3)

    return Walk(plan, perform)


def _go(walk: Walk, seed: int) -> None:
    """Walk on; timers fire and persons answer until the run needs more than that."""
    for _ in range(200):
        walk.go()
        state = walk.state
        if state.reason == "timer" and state.status == "waiting":
            walk.record(TimerFired(key="retry", at=walk.now))
        elif state.pending is not None and state.pending.kind == "approval":
            chance = random.Random(f"{seed} {state.pending.address} {state.revisions.get(state.pending.address, 0)}")
            walk.answers.append(Answer(chance.choice(["approve", "approve", "reject"]), "me"))
            walk.outside()
        else:
            return


@settings(deadline=None)
@given(walks())
def test_replaying_a_log_gives_the_live_state(walk: Walk) -> None:
    assert replay(walk.events, walk.blobs) == walk.state


@settings(deadline=None)
@given(walks())
def test_a_running_state_always_has_a_next_move_or_something_pending(walk: Walk) -> None:
    for state in walk.states:
        if state.status == "running" and state.pending is None:
            assert decide(walk.plan, state, 1.0) is not None
    assert walk.state.status in ("succeeded", "failed", "blocked")


@settings(max_examples=80, deadline=None)
@given(walks(), st.data())
def test_a_checkpoint_is_the_same_as_folding_from_the_beginning(walk: Walk, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(walk.events)))
    state = decode_state(encode_state(walk.states[at - 1]), walk.blobs.__getitem__)
    assert state == walk.states[at - 1]
    for seq, event in enumerate(walk.events[at:], start=at + 1):
        state = apply(state, event, seq, walk.blobs.__getitem__)
    assert state == walk.state


@settings(max_examples=80, deadline=None)
@given(walks(), st.integers(0, 1000), st.data())
def test_going_on_from_any_prefix_ends_as_the_uninterrupted_run(walk: Walk, seed: int, data: st.DataObject) -> None:
    whole = _walked(walk.plan, seed)
    cut = data.draw(st.integers(1, len(whole.events)))
    again = _begun(walk.plan, seed)
    again.record(*whole.events[:cut])
    _go(again, seed)
    assert _meaning(again) == _meaning(whole)


def _meaning(walk: Walk) -> tuple[object, ...]:
    outcomes = {address: (step.status, step.output, step.attempts) for address, step in walk.state.steps.items()}
    return walk.state.status, walk.state.reason, outcomes, dict(walk.state.names.items())


@settings(max_examples=80, deadline=None)
@given(walks(), st.integers(0, 1000), st.data())
def test_rewinding_and_doing_the_same_again_ends_the_same(walk: Walk, seed: int, data: st.DataObject) -> None:
    whole = _walked(walk.plan, seed)
    begun = [seq for seq, event in enumerate(whole.events, start=1) if isinstance(event, StepBegan)]
    if not begun or whole.state.status == "cancelled":
        return
    before = _meaning(whole)
    seq = data.draw(st.sampled_from(begun))
    whole.rewind(seq)
    spent = whole.state.spent
    assert replace(whole.state, seq=0) == replace(whole.states[seq - 2], seq=0, spent=spent)
    _go(whole, seed)
    assert _meaning(whole) == before
    assert replay(whole.events, whole.blobs) == whole.state


@settings(max_examples=60, deadline=None)
@given(walks(), st.integers(0, 1000), st.data())
def test_a_fork_goes_on_as_its_source_and_leaves_it_alone(walk: Walk, seed: int, data: st.DataObject) -> None:
    whole = _walked(walk.plan, seed)
    begun = [seq for seq, event in enumerate(whole.events, start=1) if isinstance(event, StepBegan)]
    if not begun:
        return
    events = list(whole.events)
    copy = whole.fork(data.draw(st.sampled_from(begun)))
    _go(copy, seed)
    assert whole.events == events
    assert copy.state.run == "r-2"
    assert _meaning(copy) == _meaning(whole)


@settings(max_examples=60, deadline=None)
@given(walks())
def test_advancing_decides_nothing_twice(walk: Walk) -> None:
    moved = advance(walk.plan, walk.state, walk.now, walk.blobs.__getitem__)
    assert moved.events == ()


@given(walks())
@settings(max_examples=40, deadline=None)
def test_an_outcome_is_taken_once(walk: Walk) -> None:
    ended = [event for event in walk.events if isinstance(event, StepEnded)]
    for event in ended[:3]:
        with pytest.raises(IllegalMove):
            apply(walk.state, event, walk.state.seq + 1, walk.blobs.__getitem__)


def test_the_table_of_moves_knows_every_status_and_lets_final_ones_rest() -> None:
    assert ALLOWED["cancelled"] == {"command_refused", "git_settings_changed", "run_imported"}
    with pytest.raises(IllegalMove):
        require_allowed("cancelled", "run_resumed")
    with pytest.raises(IllegalMove):
        require_allowed("", "step_began")


def test_a_resumed_run_may_fail_again_and_be_resumed_again() -> None:
    plan = Plan(name="p", steps=(Step(name="x", action=ScriptAction(Command("x"))),))
    walk = Walk(plan, lambda _: (False, None)).start().go()
    for _ in range(3):
        walk.record(RunResumed(by="me", at=walk.now))
        walk.go()
    assert walk.state.steps["x"].attempts == 1
    assert [event.kind for event in walk.events].count("step_began") == 4

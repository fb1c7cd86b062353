"""The laws of the engine, on random guided plans with random outside performers."""

import json
import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.decide.advance import decide
from handrail.engine.decide.complete_guided import Submission
from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state, encode_state
from handrail.model.codec import decode, encode
from handrail.model.history.events import Event, RunTaken, Shortfall, StepBegan
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import BY_ARTIFACT, GuidedWalk, Json, control, guided_plan, loop, step, valid, var
from support.engine.walking import Walk, copy_of, replay

NAMES = ("red", "blue", "list", "count")
VALUES: tuple[JsonValue, ...] = ("on", "off", 0, 1, 2, True, False, None, [], [1, 2], [{"id": "x"}], {"a": 1})
OPERATORS: tuple[Json, ...] = ({}, {"equals": "on"}, {"not_equals": "on"}, {"gt": 0}, {"in": ["on", 2]})


@st.composite
def conditions(draw: st.DrawFn) -> Json:
    plain = var(draw(st.sampled_from(NAMES)), **draw(st.sampled_from(OPERATORS)))
    other = var(draw(st.sampled_from(NAMES)))
    return draw(st.sampled_from([plain, {"not": plain}, {"and": [plain, other]}, {"or": [plain, {}]}]))


@st.composite
def bodies(draw: st.DrawFn, depth: int, prefix: str) -> list[Json]:
    found: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        name = f"{prefix}{number}"
        made = draw(_loop(depth, name)) if depth and draw(st.booleans()) else draw(_step(name))
        if draw(st.integers(0, 2)) == 0:
            made = {**made, "runCondition": draw(conditions())}
        found.append(made)
    return found


@st.composite
def _step(draw: st.DrawFn, name: str) -> Json:
    extras: list[Json] = [
        {},
        {"notesOptional": True},
        {"outputContract": {"contractRef": "wr.contracts.gate_verdict"}},
        {"validationCriteria": [{"type": "contains", "value": "Did", "message": "say what you did"}]},
        {"promptFragments": [{"id": "more", "when": draw(conditions()), "text": "{{red}}"}]},
    ]
    return step(name, prompt="{{goal}} {{red}} {{list.length}}", **draw(st.sampled_from(extras)))


@st.composite
def _loop(draw: st.DrawFn, depth: int, name: str) -> Json:
    kinds: list[Json] = [
        {"type": "while", "condition": draw(conditions())},
        {"type": "until", "condition": draw(conditions())},
        {"type": "while", "conditionSource": BY_ARTIFACT},
        {"type": "for", "count": 2},
        {"type": "for", "count": "count"},
        {"type": "forEach", "items": "list"},
    ]
    kind = draw(st.sampled_from(kinds))
    return loop(name, *draw(bodies(depth - 1, f"{name}-")), maxIterations=draw(st.integers(1, 3)), **kind)


@st.composite
def walks(draw: st.DrawFn) -> GuidedWalk:
    plan = guided_plan(*draw(bodies(2, "step")))
    return walked(plan, draw(st.integers(0, 1000)))


def walked(plan: Plan, seed: int) -> GuidedWalk:
    walk = begun(plan, seed).start()
    walk.go(most=600)
    return walk


def begun(plan: Plan, seed: int) -> GuidedWalk:
    def perform(began: StepBegan, shortfalls: tuple[Shortfall, ...]) -> Submission:
        # By address and by what was refused before, not by order: the same answer to the same question.
        chance = random.Random(f"{seed} {began.address} {[each.code for each in shortfalls]}")
        context = {name: chance.choice(VALUES) for name in chance.sample(NAMES, 2)} if not shortfalls else {}
        done = valid(began, shortfalls, context)
        if not shortfalls and chance.random() < 0.2:
            return Submission(by="me", context=context)
        return replace(done, artifacts=(*done.artifacts, control(chance.choice(["stop", "continue", "odd"]))))

    return GuidedWalk(plan, work=perform, inputs={"list": [1], "count": 1})


@settings(max_examples=60, deadline=None)
@given(walks())
def test_replaying_a_guided_log_gives_the_live_state(walk: GuidedWalk) -> None:
    assert replay(walk.events, walk.blobs) == walk.state


@settings(max_examples=60, deadline=None)
@given(walks())
def test_a_running_guided_state_always_has_a_next_move_or_something_pending(walk: GuidedWalk) -> None:
    for state in walk.states:
        if state.status == "running" and state.pending is None:
            assert decide(walk.plan, state, 1.0) is not None
    assert walk.state.status in ("succeeded", "blocked")
    assert walk.state.status == "succeeded" or walk.state.reason == "fault"


@settings(max_examples=40, deadline=None)
@given(walks(), st.data())
def test_a_checkpoint_of_a_guided_run_is_the_same_as_folding_it(walk: GuidedWalk, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(walk.events)))
    state = decode_state(encode_state(walk.states[at - 1]), walk.blobs.__getitem__)
    assert state == walk.states[at - 1]
    for seq, event in enumerate(walk.events[at:], start=at + 1):
        state = apply(state, event, seq, walk.blobs.__getitem__)
    assert state == walk.state


@settings(max_examples=40, deadline=None)
@given(walks(), st.integers(0, 1000), st.data())
def test_going_on_from_any_prefix_ends_as_the_uninterrupted_guided_run(
    walk: GuidedWalk, seed: int, data: st.DataObject
) -> None:
    whole = walked(walk.plan, seed)
    cut = data.draw(st.integers(2, len(whole.events)))
    again = begun(walk.plan, seed)
    again.record(*whole.events[:cut])
    again.go(most=600)
    assert meaning(again) == meaning(whole)


@settings(max_examples=60, deadline=None)
@given(walks(), st.data())
def test_going_back_and_doing_the_same_again_ends_the_same(walk: GuidedWalk, data: st.DataObject) -> None:
    places = [seq for seq, event in enumerate(walk.events, start=1) if isinstance(event, StepBegan)]
    if not places:
        return
    before = meaning(walk)
    seq = data.draw(st.sampled_from(places))
    walk.rewind(seq)
    walk.go(most=600)
    assert meaning(walk) == before
    assert replay(walk.events, walk.blobs) == walk.state


@settings(max_examples=40, deadline=None)
@given(walks(), st.integers(0, 999))
def test_a_copy_of_a_guided_run_at_any_point_ends_as_its_source(walk: GuidedWalk, where: int) -> None:
    cut = 1 + where % len(walk.events)
    source = begun(walk.plan, 0)
    source.record(*walk.events[:cut])
    copy = GuidedWalk(walk.plan, work=walk.work, inputs=dict(walk.inputs))
    copy_of(source, copy)
    # Nobody holds a copy: what is pending in it waits for somebody to take it.
    copy.settle()
    if not copy.state.is_over:
        copy.record(RunTaken(by="me", at=walk.now))
    copy.go(most=600)
    assert copy.state.run == "r-2"
    assert meaning(copy)[:2] == meaning(walk)[:2]


def meaning(walk: Walk) -> tuple[object, ...]:
    outcomes = {address: (step.status, step.output) for address, step in walk.state.steps.items()}
    return walk.state.status, dict(walk.state.context.items()), outcomes


@settings(max_examples=60, deadline=None)
@given(walks())
def test_every_event_of_a_guided_run_comes_back_from_its_data(walk: GuidedWalk) -> None:
    for event in walk.events:
        assert decode(Event, json.loads(json.dumps(encode(event)))) == event  # pyright: ignore[reportArgumentType]

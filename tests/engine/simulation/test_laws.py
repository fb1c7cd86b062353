"""What a simulation reports is true of the real engine: its paths can be walked, what it rules out never is."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.compiler.record_types import result_type
from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.simulation.explore import explore_inner, first_state, no_blobs
from handrail.engine.simulation.inner_runs import InnerRunExplorer
from handrail.engine.simulation.moves import moves
from handrail.engine.simulation.world import Choice, End, Observations, StateBudget, World, place_of
from handrail.model.history.run_state import RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.operations.workflows.simulate import Simulation
from support.engine.simulating import CASES, case

MOST_MOVES = 60


def inputs_of(plan: Plan, first: Choice | None) -> list[dict[str, JsonValue]]:
    """The inputs that a path may have begun with: those of the corpus are choices and booleans."""
    found: list[dict[str, JsonValue]] = [{}]
    for each in plan.inputs:
        values: list[JsonValue] = list(getattr(each.type, "values", (True, False)))
        found = [{**known, each.name: value} for known in found for value in values]
    said = "" if first is None or first.place != "start" else first.says
    return [
        each for each in found if all(f"{name} = {_written(value)}" in said for name, value in each.items()) or not said
    ]


def _written(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def walked(plan: Plan, end: End, inputs: dict[str, JsonValue]) -> RunState:
    """Walk a path with the real engine."""
    state = advance(plan, first_state(plan, inputs), 0.0, no_blobs).state
    for choice in () if end.trail is None else end.trail.choices():
        for event in choice.events:
            state = apply(state, event, state.seq + 1, no_blobs)
        state = advance(plan, state, 0.0, no_blobs).state
    return state


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_path_can_be_walked_by_the_real_engine(path: Path) -> None:
    found = case(path)
    for end in found.explored.ends:
        first = None if end.trail is None else end.trail.choices()[0]
        state = walked(found.plan, end, inputs_of(found.plan, first)[0])
        assert (state.status, place_of(found.plan, state)) == (end.status, end.place)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_random_performer_never_reaches_a_step_that_is_called_unreachable(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([each for each in CASES if each.stem != "called-workflow"]))
    found = case(path)
    inputs = data.draw(st.sampled_from(inputs_of(found.plan, None)))
    reached = at_random(found, inputs, data)
    assert reached <= found.reachable_places


def at_random(found: Simulation, inputs: dict[str, JsonValue], data: st.DataObject) -> set[str]:
    """Walk with outcomes that are drawn; give the addresses of the steps that ran, without rounds and keys."""
    world = World(found.plan, result_type, {}, StateBudget(10_000))
    facts = Observations()
    state = first_state(found.plan, inputs)
    for _ in range(MOST_MOVES):
        state = advance(found.plan, state, 0.0, no_blobs).state
        choices = moves(world, state, facts, InnerRunExplorer(explore_inner))
        if not choices:
            break
        for event in data.draw(st.sampled_from(choices)).events:
            state = apply(state, event, state.seq + 1, no_blobs)
    ran = {address for address, step in state.steps.items() if step.status != "skipped"}
    return {_place(address) for address in ran} & _places(found)


def _place(address: str) -> str:
    return re.sub(r"@\d+|\[[^\]]*\]", "", address)


def _places(found: Simulation) -> set[str]:
    return {place for place, _ in walk_steps(found.plan.steps)}

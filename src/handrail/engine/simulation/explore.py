"""Explores every branch: states at the same place with the same knowledge are explored once.

1. Every move is the engine's: `decide` says what follows, `apply` folds it; only what comes from outside is made up.
2. The shortest path to anything is found first, so that examples are short.
3. What exceeds the given number of states is left out, and this is reported.
"""

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from handrail.engine.decide.advance import MAX_EVENTS, decide
from handrail.engine.fold.apply import apply
from handrail.engine.simulation.candidates import Candidate, input_candidates
from handrail.engine.simulation.inner_runs import InnerRunExplorer
from handrail.engine.simulation.moves import moves
from handrail.engine.simulation.state_keys import key_of
from handrail.engine.simulation.world import (
    Choice,
    End,
    Observations,
    Outcome,
    StateBudget,
    Trail,
    Types,
    World,
    path_of,
    place_of,
    variables_of,
)
from handrail.engine.state.run_outputs import results_of
from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.run_state import RunState
from handrail.model.names import make_identifier
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import EndAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

DEFAULT_STATES = 20_000
MAX_STARTS = 64
_NOT_DEFINED = re.compile(r"'([^']+)' is not defined")
_NO_FIELD = re.compile(r"field '([^']+)' does not exist")


@frozen
class Node:
    """A state that was explored."""

    state: RunState
    trail: Trail | None = None
    parent: str = ""


@dataclass(slots=True)
class Exploration:
    """Everything that was found."""

    facts: Observations = field(default_factory=Observations)
    ends: list[End] = field(default_factory=list[End])
    states: int = 0
    merged: int = 0
    cut: bool = False
    edges: dict[str, list[tuple[Choice, str]]] = field(default_factory=dict[str, list[tuple[Choice, str]]])
    """From each state, what may happen and the state that it leads to."""
    settled: dict[str, str] = field(default_factory=dict[str, str])
    """For each state, the one in which only the outside can move the run."""
    ended: dict[str, End] = field(default_factory=dict[str, End])


def no_blobs(digest: str) -> bytes:
    """Refuse to read a blob, since a simulation stores none."""
    raise KeyError(digest)


def explore(
    plan: Plan, types: Types, called: Mapping[str, Plan], given: Mapping[str, JsonValue], room: StateBudget
) -> Exploration:
    """Explore a plan from its beginning; inputs that are not given take every relevant value."""
    world = World(plan, types, called, room)
    found = Exploration()
    starts = [Node(first_state(plan, inputs), trail) for inputs, trail in _starts(world, given)]
    _walk(world, starts, found, InnerRunExplorer(explore_inner))
    found.cut = room.cut
    return found


def explore_inner(world: World, first: RunState) -> tuple[list[Outcome], Observations]:
    """Explore a run inside another, and return the ways in which it ends."""
    found = Exploration()
    ended: dict[str, Outcome] = {}
    for end, state in _walk(world, [Node(first)], found, InnerRunExplorer(explore_inner)):
        if end.status in ("succeeded", "failed"):
            output: JsonValue = results_of(world.plan, state)
            says = "done" if end.status == "succeeded" else "fails"
            ended.setdefault(json.dumps([end.status, output]), Outcome(end.status, output, says))
    return list(ended.values()), found.facts


def _starts(world: World, given: Mapping[str, JsonValue]) -> list[tuple[dict[str, JsonValue], Trail | None]]:
    choices: list[list[tuple[str, Candidate]]] = []
    for each in world.plan.inputs:
        known = (Candidate(given[each.name]),) if each.name in given else input_candidates(each, world.reading)
        choices.append([(each.name, one) for one in known])
    found: list[tuple[dict[str, JsonValue], Trail | None]] = []
    for combination in product(*choices):
        if len(found) >= MAX_STARTS:
            world.room.cut = True
            break
        says = ", ".join(one.says for _, one in combination if one.says)
        trail = Trail(Choice(says, (), "start")) if says else None
        found.append(({name: one.value for name, one in combination}, trail))
    return found


def first_state(plan: Plan, inputs: dict[str, JsonValue]) -> RunState:
    """Return the state in which a simulated run begins."""
    started = ev.RunStarted(
        run="simulated",
        workflow=plan.name,
        definition="",
        plan="",
        inputs=inputs,
        workspace="",
        checks={"project": "the project's checks"},
        task="the task",
        env=variables_of(plan),
        at=0.0,
    )
    state = apply(None, started, 1, no_blobs)
    return apply(state, ev.RunTaken(by="somebody", at=0.0), 2, no_blobs) if plan.selection == "rescan" else state


def _walk(world: World, starts: list[Node], found: Exploration, inner: InnerRunExplorer) -> list[tuple[End, RunState]]:
    queue = deque(starts)
    seen: set[str] = set()
    ends: list[tuple[End, RunState]] = []
    while queue:
        # A guided workflow is searched depth-first, guided by what was not seen yet; any other breadth-first.
        node = queue.pop() if world.plan.selection == "rescan" else queue.popleft()
        # Equal states are followed by equal decisions, so a state is looked up both before and after deciding.
        before = key_of(world, node.state)
        state = node.state if before in seen else settle(world, node, found.facts)
        key = before if before in seen else key_of(world, state)
        key = found.settled.setdefault(before, key)
        choice = Choice("", ()) if node.trail is None else node.trail.choice
        found.edges.setdefault(node.parent, []).append((choice, key))
        if key in seen:
            found.merged += 1
            continue
        seen |= {before, key}
        if not world.room.take():
            break
        found.states += 1
        choices = moves(world, state, found.facts, inner)
        if not choices:
            end = _end(world, state, node, found.facts)
            found.ends.append(end)
            found.ended[key] = end
            ends.append((end, state))
        queue.extend(Node(_apply_choice(state, each), Trail(each, node.trail), key) for each in choices)
    return ends


def _apply_choice(state: RunState, choice: Choice) -> RunState:
    for event in choice.events:
        state = apply(state, event, state.seq + 1, no_blobs)
    return state


def settle(world: World, node: Node, facts: Observations) -> RunState:
    """Decide until only the outside can continue, and record what was seen on the way."""
    state = node.state
    for _ in range(MAX_EVENTS):
        place = world.prefix + place_of(world.plan, state)
        event = decide(world.plan, state, 0.0)
        if event is None:
            return state
        _notice(_Observation(world, place, state, node, facts), event)
        state = apply(state, event, state.seq + 1, no_blobs)
    return state


@frozen
class _Observation:
    """The circumstances in which something was seen."""

    world: World
    place: str
    state: RunState
    node: Node
    facts: Observations


def _notice(sight: _Observation, event: ev.Event) -> None:
    facts, place, node = sight.facts, sight.place, sight.node
    match event:
        case ev.StepBegan() | ev.WorkEntered() | ev.LoopEntered() | ev.GroupEntered() | ev.ChildStarted():
            _remember_first(facts.begun, place, node)
        case ev.ApprovalRequested():
            _remember_first(facts.begun, place, node)
            _remember_first(facts.approvals, place, node)
        case ev.StepSkipped():
            _remember_first(facts.skipped, place, node)
        case ev.StepPassedOver():
            facts.passed_over.add(place)
        case ev.RunBlocked() | ev.RunEnded():
            _notice_stop(sight, event)
        case _:
            _notice_round(sight, event)


def _notice_round(sight: _Observation, event: ev.Event) -> None:
    facts, place = sight.facts, sight.place
    loop = sight.state.stack[-1].loop
    match event:
        case ev.RoundStarted():
            facts.rounds.add(place)
        case ev.RoundEnded(failed=True):
            facts.passed_over.add(sight.world.prefix + re.sub(r"@\d+|\[[^\]]*\]", "", event.address))
        case ev.LoopEnded(reason="max"):
            _remember_first(facts.at_limit, place, sight.node)
        case ev.LoopEnded() if loop is not None and loop.round > 0:
            facts.left_early.add(_loop_place(place, sight.state))
        case ev.ItemEnded() | ev.WorkLeft():
            _notice_results(place, event, facts)
        case _:
            pass


def _notice_results(place: str, event: ev.ItemEnded | ev.WorkLeft, facts: Observations) -> None:
    output = event.result if isinstance(event, ev.ItemEnded) else event.output
    listed = output if isinstance(output, list) else [output]
    if any(isinstance(each, dict) and each.get("status") == "failed" and "key" in each for each in listed):
        facts.passed_over.add(place)


def _loop_place(place: str, state: RunState) -> str:
    """Return the place of a loop, which may be guided and end while a step of its body is next."""
    return place.rpartition("/")[0] if state.stack[-1].index >= 0 else place


def _notice_stop(sight: _Observation, event: ev.RunBlocked | ev.RunEnded) -> None:
    facts, place, node = sight.facts, sight.place, sight.node
    # A loop that blocks or fails at its limit records no reason of its own, so its message identifies it.
    if "reached its limit of" in event.message and sight.state.stack[-1].loop is not None:
        _remember_first(facts.at_limit, place, node)
    if isinstance(event, ev.RunEnded):
        steps = {sight.world.prefix + address: step for address, step in walk_steps(sight.world.plan.steps)}
        if place in steps and isinstance(steps[place].action, EndAction):
            _remember_first(facts.begun, place, node)
            names = place.split("/")
            facts.left_early.update("/".join(names[:count]) for count in range(1, len(names)))
        return
    if event.reason == "fault":
        name = _find_undefined_name(sight.world, event.message)
        if name:
            facts.undefined.setdefault((place, name), path_of(node.trail))
        else:
            facts.unexplored.setdefault(place, event.message)
        _remember_first(facts.begun, place, node)


def _find_undefined_name(world: World, message: str) -> str:
    """Return the name that is not defined; a field of unknown data may well exist, so it is not reported."""
    found = _NOT_DEFINED.search(message)
    if found is not None:
        return found[1]
    field_ = _NO_FIELD.search(message)
    names = {make_identifier(step.name) for _, step in walk_steps(world.plan.steps)}
    return f"steps.{field_[1]}" if field_ is not None and field_[1] in names else ""


def _remember_first(known: dict[str, tuple[str, ...]], place: str, node: Node) -> None:
    if place not in known:
        known[place] = path_of(node.trail)


def _end(world: World, state: RunState, node: Node, facts: Observations) -> End:
    place = world.prefix + place_of(world.plan, state)
    if state.status in ("running", "waiting", "queued"):
        _remember_first(facts.stuck, place, node)
    reason = "" if state.reason is None else str(state.reason)
    return End(state.status, reason, place, state.message, path_of(node.trail), node.trail)

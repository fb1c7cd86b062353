"""Decides which states are equal: those at the same place that know the same about what decides."""

import json
from typing import cast

from handrail.engine.contracts.context_conditions import holds
from handrail.engine.simulation.deciding_values import Path
from handrail.engine.simulation.world import World
from handrail.engine.state.scope import scope_for
from handrail.language.expressions.refs import Ref
from handrail.model.history.run_state import Frame, GroupState, LoopState, RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.guidance import ContextDecides, GuidedLoopAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import ContextCondition, Expression, JsonValue

_OWN = frozenset({"input", "run", "current_step", "env"})


def key_of(world: World, state: RunState) -> str:
    """Compute a text that is the same for states from which the same follows."""
    failure, pending = state.failure, state.pending
    held: list[object] = [
        state.status,
        state.reason,
        state.held_by,
        None if failure is None else (failure.attempt, failure.hindrance, failure.blocks, failure.retry_at),
        None
        if pending is None
        else (pending.kind, pending.action, pending.attempt, pending.address.rpartition("/")[2]),
        [_frame(world, each) for each in state.stack],
        sorted(state.revisions.items()),
        state.spent.agent_calls if world.is_call_count_relevant else 0,
        state.spent.usd,
        state.granted,
        _values_that_decide(world, state),
        _context(world.plan, state),
    ]
    return json.dumps(held, default=str)


def _frame(world: World, frame: Frame) -> object:
    work = frame.work
    data: object = None
    if work is not None:
        started = work.data.get("started")
        data = {**work.data, "started": sorted(started)} if isinstance(started, dict) else work.data
    return frame.index, _loop(world, frame.loop), _group(world, frame.group), data


def _loop(world: World, loop: LoopState | None) -> object:
    if loop is None:
        return None
    ended = (len(list(loop.done)), len(list(loop.failed)), len(list(loop.undone))) if _is_loop_read(world, loop) else 0
    return loop.round, loop.leaving, loop.items, loop.count, ended


def _is_loop_read(world: World, loop: LoopState) -> bool:
    name = loop.address.rpartition("/")[2].replace("-", "_")
    return any(path[:2] == ("steps", name) or path[0] == "previous_step" for path in world.reading.deciding)


def _group(world: World, group: GroupState | None) -> object:
    if group is None:
        return None
    roots = {path[0] for path in world.reading.deciding}
    return sorted((name, value if name in roots else "") for name, value in group.names.items()), sorted(group.latest)


def _values_that_decide(world: World, state: RunState) -> list[object]:
    """List the values that decide, and which others exist at all."""
    deciding = world.reading.deciding
    return [
        _value(state, path) if path in deciding else _is_defined(state, path)
        for path in sorted(world.reading.paths)
        if path[0] not in _OWN or path in deciding
    ]


def _value(state: RunState, path: Path) -> object:
    here: JsonValue = cast("JsonValue", scope_for(state, (Ref(path, 0, 0),)))
    for part in path:
        if not isinstance(here, dict) or part not in here:
            return "undefined"
        here = here[part]
    return [here]


def _is_defined(state: RunState, path: Path) -> bool:
    if path[0] == "steps":
        return len(path) > 1 and path[1] in state.latest
    return path[0] in state.names


def _context(plan: Plan, state: RunState) -> object:
    if plan.selection != "rescan":
        return None
    counts = [each for each in _loop_names(plan) if each is not None]
    statuses = [state.steps[step.name].status if step.name in state.steps else "" for step in plan.steps]
    truths = [holds(each, state.context) for each in conditions(plan)]
    return statuses, truths, [state.context.get(each) for each in counts]


def _loop_names(plan: Plan) -> list[str | None]:
    found: list[str | None] = []
    for _, step in walk_steps(plan.steps):
        if isinstance(step.action, GuidedLoopAction):
            found += [step.action.items, step.action.count if isinstance(step.action.count, str) else None]
    return found


def conditions(plan: Plan) -> list[ContextCondition]:
    """List the conditions over the context that decide which steps run, and how often."""
    found: list[ContextCondition] = []
    for _, step in walk_steps(plan.steps):
        if step.when is not None and not isinstance(step.when, Expression):
            found.append(step.when)
        if isinstance(step.action, GuidedLoopAction) and isinstance(step.action.decides, ContextDecides):
            found.append(step.action.decides.condition)
    return found

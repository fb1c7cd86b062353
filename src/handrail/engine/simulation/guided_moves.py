"""The possible outcomes of a guided step: done with a context that makes a condition hold or not, or failed."""

from collections.abc import Iterator
from itertools import islice, product

from handrail.engine.contracts.context_conditions import holds, variables
from handrail.engine.guided.loops import visible_context
from handrail.engine.simulation.endings import end_step
from handrail.engine.simulation.world import Choice, Observations, World
from handrail.model.history.events import ContextMerged, Event
from handrail.model.history.run_state import RunState
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.guidance import ContextDecides, GuidedLoopAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import Compare, ContextCondition, Expression, JsonValue

MAX_TRIES = 400
MAX_CONDITIONS = 4
"""The most conditions for which one step's context is made; the others are tried at other steps."""
ACTOR = "somebody"
Changes = dict[str, JsonValue]


def moves(world: World, state: RunState, place: str, facts: Observations) -> Iterator[Choice]:
    """Yield the possible outcomes of a step; contexts that can no longer show anything new are not tried again."""
    steered = any(frame.loop is not None and frame.loop.steered for frame in state.stack)
    for says, changes in _contexts(world, state, facts):
        yield _complete_step(state, place, says, changes)
        if steered:
            yield _complete_step(state, place, f"{says}, says stop", changes, stop=True)
    if state.pending is not None:
        yield Choice("fails", (end_step(state, ok=False, output=None),), place, 1)


def _complete_step(state: RunState, place: str, says: str, changes: Changes, *, stop: bool = False) -> Choice:
    details: Changes = {"loop_control": "stop" if stop else "continue"}
    merged: tuple[Event, ...] = (ContextMerged(changes=changes, by=ACTOR, at=0.0),) if changes else ()
    # The merge of the context comes first, because it does not change the number of what is pending.
    return Choice(says, (*merged, end_step(state, ok=True, output={"notes": "done"}, details=details)), place, 1)


def _contexts(world: World, state: RunState, facts: Observations) -> Iterator[tuple[str, Changes]]:
    seen = dict(visible_context(world.plan, state))
    needed = _context_for_loops(world.plan, seen)
    yield "done", needed
    base = {**seen, **needed}
    for condition, both in islice(_find_open_conditions(world, facts), MAX_CONDITIONS):
        for wanted in (True, False) if both else (True,):
            found = solve_condition(condition, base, wanted=wanted)
            if found:
                words = ", ".join(f"{name} = {value!r}" for name, value in found.items())
                yield f"done ({words})", {**needed, **found}
    yield from _counts(world, facts, needed)


def _find_open_conditions(world: World, facts: Observations) -> Iterator[tuple[ContextCondition, bool]]:
    """Yield the conditions of steps that have not begun yet, and of loops that have not ended both ways."""
    for address, step in walk_steps(world.plan.steps):
        place = world.prefix + address
        if step.when is not None and not isinstance(step.when, Expression) and place not in facts.begun:
            yield step.when, False
        decides = step.action.decides if isinstance(step.action, GuidedLoopAction) else None
        if isinstance(decides, ContextDecides) and not (place in facts.rounds and place in facts.left_early):
            yield decides.condition, True


def _counts(world: World, facts: Observations, needed: Changes) -> Iterator[tuple[str, Changes]]:
    for address, step in walk_steps(world.plan.steps):
        action = step.action
        if not isinstance(action, GuidedLoopAction) or world.prefix + address in facts.left_early:
            continue
        if action.items is not None:
            yield f"done (no {action.items})", {**needed, action.items: []}
        if isinstance(action.count, str):
            yield f"done ({action.count} = 0)", {**needed, action.count: 0}


def _context_for_loops(plan: Plan, seen: Changes) -> Changes:
    """Return the values without which loops cannot be decided, and which the performer of a step must provide."""
    needed: Changes = {}
    for _, step in walk_steps(plan.steps):
        action = step.action
        if not isinstance(action, GuidedLoopAction):
            continue
        if action.items is not None and not isinstance(seen.get(action.items), list):
            needed[action.items] = [{"id": "a"}, {"id": "b"}]
        if isinstance(action.count, str) and not isinstance(seen.get(action.count), int | float):
            needed[action.count] = 2
    return needed


def solve_condition(condition: ContextCondition, context: Changes, *, wanted: bool) -> Changes | None:
    """Find values for which a condition holds, or does not; None if there are none."""
    names = variables(condition)
    choices = [[context.get(name), *_values(condition, name)] for name in names]
    for count, values in enumerate(product(*choices)):
        if count > MAX_TRIES:
            return None
        chosen = dict(zip(names, values, strict=True))
        if holds(condition, {**context, **chosen}) is wanted:
            return {name: value for name, value in chosen.items() if context.get(name) != value}
    return None


def _values(condition: ContextCondition, name: str) -> list[JsonValue]:
    found: list[JsonValue] = []
    for each in parts(condition, Compare):
        if each.var == name:
            found += _values_near(each.operator, each.operand)
    return [*found, "something else", None]


def _values_near(operator: str, operand: JsonValue) -> list[JsonValue]:
    if operator == "truthy":
        return [True, False]
    if isinstance(operand, list):
        return list(operand)
    if isinstance(operand, int | float) and not isinstance(operand, bool):
        return [operand, operand + 1, operand - 1]
    if isinstance(operand, bool):
        return [operand, not operand]
    return [operand]

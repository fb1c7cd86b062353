"""WorkRail's loops: before every step of the body it is decided again whether the round continues.

1. A loop that may not continue ends at once, even in the middle of its body.
2. A round counts even if all of its steps were skipped; reaching the limit is an ordinary end.
3. The result of a step ends at most one loop: the innermost around it that asks for such a signal.
"""

from collections.abc import Mapping
from itertools import pairwise

from handrail.engine.composite import loop as loops
from handrail.engine.contracts.context_conditions import evaluate_condition
from handrail.engine.contracts.javascript_values import type_name
from handrail.engine.state.position import StepStart, enclosing_step
from handrail.frozen import frozen
from handrail.model.history.events import Event, LoopEnded, LoopEntered, RoundStarted, RunBlocked, Why
from handrail.model.history.run_state import Frame, LoopState, RunState
from handrail.model.workflow.actions import body
from handrail.model.workflow.guidance import ArtifactDecides, ContextDecides, GuidedAction, GuidedLoopAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

Names = Mapping[str, JsonValue]


@frozen
class MissingVariable:
    """A context variable without which a loop cannot be decided."""

    variable: str
    message: str
    schema: JsonValue
    """The schema that the variable must match."""
    example: JsonValue


def enter(action: GuidedLoopAction, at: StepStart) -> LoopEntered:
    """Begin a loop; nothing is fixed, because each decision uses the context as it is at that time."""
    steered = isinstance(action.decides, ArtifactDecides)
    return LoopEntered(address=at.address, steered=steered, at=at.now, why=at.why)


def innermost_loop(plan: Plan, state: RunState) -> tuple[GuidedLoopAction, LoopState] | None:
    """Return the guided loop whose body is being executed."""
    loop = state.stack[-1].loop
    step = enclosing_step(plan, state) if loop is not None else None
    if loop is None or step is None or not isinstance(step.action, GuidedLoopAction):
        return None
    return step.action, loop


def decide_before_step(plan: Plan, state: RunState, now: float) -> Event | None:
    """Decide on the innermost loop; None if the next step of its body may be looked at."""
    found = innermost_loop(plan, state)
    if found is None:
        return None
    action, loop = found
    index = state.stack[-1].index
    if loop.leaving:
        return LoopEnded(address=loop.address, reason="exit", at=now)
    if index >= len(action.steps):
        return loops.end_round(state, now)
    between = index < 0
    if between and loop.round >= action.max_iterations:
        return LoopEnded(address=loop.address, reason="max", at=now)
    return _follow_verdict(_evaluate_round(plan, state, action, loop), loop, between=between, now=now)


def find_lacking(plan: Plan, state: RunState) -> MissingVariable | None:
    """Return what the innermost loop cannot be decided without, if anything."""
    found = innermost_loop(plan, state)
    verdict = _evaluate_round(plan, state, *found) if found is not None else None
    return verdict if isinstance(verdict, MissingVariable) else None


def _evaluate_round(plan: Plan, state: RunState, action: GuidedLoopAction, loop: LoopState) -> "Why | MissingVariable":
    iteration = loop.round if state.stack[-1].index < 0 else loop.round - 1
    return _verdict(action, names_at(plan, state.context, state.stack[:-1]), iteration)


def _follow_verdict(verdict: "Why | MissingVariable", loop: LoopState, *, between: bool, now: float) -> Event | None:
    if isinstance(verdict, MissingVariable):
        return RunBlocked(
            reason="fault",
            message=f"loop '{loop.address}' cannot continue: {verdict.message}",
            address=loop.address,
            next_step=f"set '{verdict.variable}' in the context, then resume the run",
            at=now,
        )
    if verdict.result is not True:
        reason = "condition" if verdict.condition else "done"
        return LoopEnded(address=loop.address, reason=reason, at=now, why=verdict)
    return RoundStarted(address=loop.address, round=loop.round + 1, at=now, why=verdict) if between else None


def _verdict(action: GuidedLoopAction, around: Names, iteration: int) -> "Why | MissingVariable":
    """Decide whether a round, counted from 0, goes ahead; a counting loop has no condition."""
    match action.loop:
        case "for":
            return _evaluate_count(action, around, iteration)
        case "forEach":
            return _evaluate_items(action, around, iteration)
        case _:
            return _evaluate_condition(action, around, iteration)


def _evaluate_condition(action: GuidedLoopAction, around: Names, iteration: int) -> Why:
    if not isinstance(action.decides, ContextDecides):
        return Why("no step of the body has stopped the loop", {}, result=True)
    why = evaluate_condition(action.decides.condition, {**around, **loop_names(action, around, iteration)})
    if action.loop == "while":
        return why
    return Why(f"until {why.condition}", why.values, result=why.result is not True)


def _evaluate_count(action: GuidedLoopAction, around: Names, iteration: int) -> "Why | MissingVariable":
    count: JsonValue = around.get(action.count) if isinstance(action.count, str) else action.count
    if isinstance(count, bool) or not isinstance(count, int | float):
        name = str(action.count)
        message = f"the context variable '{name}' must be a number of rounds, but it {_describe_kind(count)}"
        return MissingVariable(name, message, {"type": "number"}, 2)
    return Why("", {"count": count, "iteration": iteration + 1}, result=iteration < count)


def _evaluate_items(action: GuidedLoopAction, around: Names, iteration: int) -> "Why | MissingVariable":
    name = action.items or ""
    items = around.get(name)
    if not isinstance(items, list):
        message = f"the context variable '{name}' must be a list, but it {_describe_kind(items)}"
        return MissingVariable(name, message, *_form_of_items(action))
    if iteration == 0 and items and not isinstance(items[0], dict) and _reads_fields(action):
        written = f"{{{{{action.item_var}.…}}}}"
        found = f"but the first item of '{name}' {_describe_kind(items[0])}, not a map"
        message = f"its steps read fields of an item, {written}, {found}"
        return MissingVariable(name, message, *_form_of_items(action))
    return Why("", {"items": len(items), "iteration": iteration + 1}, result=iteration < len(items))


def _describe_kind(value: JsonValue) -> str:
    if value is None:
        return "is not set"
    if isinstance(value, list | dict):
        return "is a list" if isinstance(value, list) else "is a map"
    return f"is a {type_name(value)}"


def _form_of_items(action: GuidedLoopAction) -> tuple[JsonValue, JsonValue]:
    """Return the schema and an example of a list that a loop may iterate over."""
    if _reads_fields(action):
        return {"type": "array", "items": {"type": "object"}}, [{"id": "first"}, {"id": "second"}]
    return {"type": "array"}, ["first", "second"]


def _reads_fields(action: GuidedLoopAction) -> bool:
    wanted = "{{" + action.item_var + "."
    return any(wanted in step.action.prompt.text for step in action.steps if isinstance(step.action, GuidedAction))


def loop_names(action: GuidedLoopAction, around: Names, iteration: int) -> dict[str, JsonValue]:
    """Return the names that the body of a loop sees in a round, counted from 0."""
    names: dict[str, JsonValue] = {action.iteration_var: iteration + 1}
    items = around.get(action.items) if action.loop == "forEach" and action.items is not None else None
    if isinstance(items, list) and 0 <= iteration < len(items):
        names[action.item_var] = items[iteration]
        names[action.index_var] = iteration
    return names


def names_at(plan: Plan, context: Names, stack: tuple[Frame, ...]) -> dict[str, JsonValue]:
    """Return the context as a step at a stack sees it, with the names of the loops around it added."""
    names = dict(context.items())
    steps = plan.steps
    for frame, inner in pairwise(stack):
        action = steps[frame.index].action
        if isinstance(action, GuidedLoopAction) and inner.loop is not None:
            names.update(loop_names(action, names, inner.loop.round - 1))
        steps = body(action)
    return names


def visible_context(plan: Plan, state: RunState) -> dict[str, JsonValue]:
    """Return the context as the current step sees it."""
    return names_at(plan, state.context, state.stack)

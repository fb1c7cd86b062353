"""Steps that are never reached, and loops whose body cannot change what their condition waits for."""

from collections.abc import Iterator

from handrail.compiler.constant import constant_truth, constant_value, find_refs
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import EndAction, LoopAction, ScriptAction, Times, Until, While, body
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import Expression


def lint_unreachable_steps(context: LintContext) -> None:
    """Warn of steps that no run can reach."""
    for visit in context.own:
        if constant_truth(visit.step.when) is False:
            message = f"step '{visit.step.name}' never runs: its `when` is always false"
            context.report.warning("unreachable-step", message, context.locate(visit, "when"), "remove the step")
        before = visit.siblings[visit.index - 1] if visit.index > 0 else None
        if before is not None and isinstance(before.action, EndAction) and constant_truth(before.when):
            hint = f"give '{before.name}' a `when`, or remove what comes after it"
            message = f"step '{visit.step.name}' is never reached: the run always ends at '{before.name}'"
            context.report.warning("unreachable-step", message, context.locate(visit), hint)
        parent = visit.parent
        if visit.index == 0 and parent is not None and isinstance(parent.step.action, LoopAction):
            _lint_empty_loop(context, visit, parent, parent.step.action)


def _lint_empty_loop(context: LintContext, visit: Visit, parent: Visit, loop: LoopAction) -> None:
    match loop.over:
        case Times(count) if constant_value(count) == (0,):
            why = "has 0 rounds"
        case While(condition) if constant_truth(condition) is False:
            why = "has a `while` that is always false"
        case _:
            return
    message = f"step '{visit.step.name}' is never reached: the loop '{parent.step.name}' {why}"
    context.report.warning("unreachable-step", message, context.locate(visit), "remove the loop, or let it run")


CHANGING = frozenset({"round", "run", "previous_step", "current_step"})
"""Names provided by Handrail whose value differs from round to round."""


ENDS = {
    "while": "it never starts or ends at the limit",
    "until": "it ends after one round or at the limit",
}


def lint_unchanging_loops(context: LintContext) -> None:
    """Warn of a condition that the loop's own body cannot change."""
    for visit in context.own:
        action = visit.step.action
        if not isinstance(action, LoopAction) or not isinstance(action.over, While | Until):
            continue
        names = [ref.parts for ref in find_refs(action.over.condition.source) or ()]
        inside = tuple(_walk_body(visit.step))
        if not names or any(_can_leave(step) for step in inside) or any(_can_change(inside, name) for name in names):
            continue
        said = " or ".join(sorted({f"'{'.'.join(name)}'" for name in names}))
        ends = ENDS[action.over.kind]
        message = f"the loop cannot change {said}: {ends}"
        hint = "use an output or a step of the body in the condition: " + _suggest_names(inside)
        context.report.warning("loop-cannot-change", message, context.locate(visit, action.over.kind), hint)


def _walk_body(step: Step) -> Iterator[Step]:
    for inner in body(step.action):
        yield inner
        yield from _walk_body(inner)


def _can_leave(step: Step) -> bool:
    action = step.action
    return isinstance(action, EndAction) or (isinstance(action, ScriptAction) and action.on_success is not None)


def _can_change(inside: tuple[Step, ...], path: tuple[str, ...]) -> bool:
    if path[0] == "steps":
        return len(path) == 1 or any(make_identifier(step.name) == make_identifier(path[1]) for step in inside)
    return path[0] in CHANGING or any(
        step.output is not None and make_identifier(step.output) == path[0] for step in inside
    )


def _suggest_names(inside: tuple[Step, ...]) -> str:
    outputs = [make_identifier(step.output) for step in inside if step.output is not None]
    return ", ".join((*outputs[:3], *(f"steps.{make_identifier(step.name)}.status" for step in inside[:1])))


def conditions_of(visit: Visit) -> Iterator[tuple[str, Expression]]:
    """List the native conditions of a step other than its proofs, by key."""
    if isinstance(visit.step.when, Expression):
        yield "when", visit.step.when
    action = visit.step.action
    if isinstance(action, LoopAction) and isinstance(action.over, While | Until):
        yield action.over.kind, action.over.condition
    for key in ("exit_when", "warn_when"):
        condition: object = getattr(action, key, None)
        if isinstance(condition, Expression):
            yield key, condition

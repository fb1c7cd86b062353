"""Conditions that are always true or always false."""

from collections.abc import Iterator

from handrail.compiler.constant import constant_truth
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.flow import conditions_of
from handrail.compiler.lint.walk import Visit
from handrail.model.source import Mapping, Sequence
from handrail.model.workflow.actions import LoopAction, ScriptAction
from handrail.model.workflow.guidance import ContextDecides, GuidedAction, GuidedLoopAction
from handrail.model.workflow.proofs import ExpectProof
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, Condition, Negation

MEANS = {
    ("when", True): ("so the step always runs", "leave `when` out"),
    ("while", True): ("so the loop runs to max_iterations", "write `for: N`, or name what the body changes"),
    ("until", True): ("so the loop ends after one round", "name what the body changes"),
    ("until", False): ("so the loop runs to max_iterations", "write `for: N`, or name what the body changes"),
    ("exit_when", True): ("so the loop ends after one round", "name what changes: round, findings, open, actionable"),
    ("exit_when", False): ("so it never ends the loop", "leave `exit_when` out"),
    ("warn_when", True): ("so the gate never stops the run", "write `on_fail: warn`, which makes that explicit"),
    ("warn_when", False): ("so no failure becomes a warning", "leave `warn_when` out"),
}
"""Explanation and hint by key and value; a `when` or `while` that is always false makes steps unreachable instead."""


def lint_constant_conditions(context: LintContext) -> None:
    """Warn of conditions that do not depend on the run."""
    for visit in context.own:
        for key, condition in conditions_of(visit):
            value = constant_truth(condition)
            means = None if value is None else MEANS.get((key, value))
            if means is None or (value is (key == "while") and _can_exit(visit)):
                continue
            message = f"`{key}` is always {'true' if value else 'false'}, {means[0]}"
            context.report.warning("constant-condition", message, context.locate(visit, key), means[1])
        _lint_proofs(context, visit)
        _lint_guided(context, visit)


def _can_exit(visit: Visit) -> bool:
    """Whether the body has its own exit, as in `while: true` around a script with `on_success: exit_loop`."""
    action = visit.step.action
    inside = action.steps if isinstance(action, LoopAction) else ()
    return any(isinstance(step.action, ScriptAction) and step.action.on_success is not None for step in inside)


def _lint_proofs(context: LintContext, visit: Visit) -> None:
    if visit.node is None:
        return
    written = visit.node.get("done_when")
    for index, proof in enumerate(visit.step.done_when):
        if isinstance(proof, ExpectProof) and constant_truth(proof.condition) is True:
            item = written.items[index] if isinstance(written, Sequence) and index < len(written.items) else None
            at = item.get("expect") if isinstance(item, Mapping) else None
            message = "`expect` is always true, so it proves nothing"
            place = at if at is not None else context.locate(visit, "done_when")
            context.report.warning("constant-condition", message, place, "refer to what the step returns")


def _lint_guided(context: LintContext, visit: Visit) -> None:
    for key, words, condition in _context_conditions(visit):
        if isinstance(condition, Always):
            message = f"{words} is empty, which is always true"
            context.report.warning(
                "constant-condition", message, context.locate(visit, key), "name a variable, or remove it"
            )
        elif (why := find_contradiction(condition)) is not None:
            message = f"{words} is never true: {why}"
            context.report.warning("constant-condition", message, context.locate(visit, key), 'combine them with "or"')


def _context_conditions(visit: Visit) -> Iterator[tuple[str, str, Condition]]:
    action = visit.step.action
    if visit.step.when is not None:
        yield "runCondition", "the run condition", visit.step.when
    if isinstance(action, GuidedLoopAction) and isinstance(action.decides, ContextDecides):
        yield "loop", "the loop's condition", action.decides.condition
    if isinstance(action, GuidedAction):
        for fragment in action.fragments:
            if fragment.when is not None:
                yield "promptFragments", f"the condition of fragment '{fragment.id}'", fragment.when


def find_contradiction(condition: Condition) -> str | None:
    """Explain why a condition over the context can never hold, or return None."""
    match condition:
        case AllOf(parts):
            # Every part is compared with the others, so their number is limited.
            return _find_clash(tuple(_flatten(parts))[:200]) or next(filter(None, map(find_contradiction, parts)), None)
        case AnyOf(parts) if parts:
            whys = [find_contradiction(part) for part in parts]
            return whys[0] if all(whys) else None
        case _:
            return None


def _flatten(parts: tuple[Condition, ...]) -> Iterator[Condition]:
    for part in parts:
        if isinstance(part, AllOf):
            yield from _flatten(part.parts)
        else:
            yield part


def _find_clash(parts: tuple[Condition, ...]) -> str | None:
    equals: dict[str, object] = {}
    for part in parts:
        if isinstance(part, Compare) and part.operator == "equals":
            known = equals.setdefault(part.var, part.operand)
            if not _is_equal(known, part.operand):
                return f"'{part.var}' cannot equal both {_format_value(known)} and {_format_value(part.operand)}"
    for part in parts:
        if (
            isinstance(part, Compare)
            and part.operator == "not_equals"
            and _is_equal(equals.get(part.var), part.operand)
        ):
            return f"'{part.var}' must and must not equal {_format_value(part.operand)}"
        if isinstance(part, Negation) and part.part in parts:
            return "it requires a condition and its opposite"
    return None


def _is_equal(left: object, right: object) -> bool:
    # WorkRail compares leniently: "3" equals 3, and case is ignored.
    return str(left).casefold() == str(right).casefold()


def _format_value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()

"""Lowers WorkRail's conditions: the first operator in the evaluator's order decides, all others are ignored."""

from handrail.compiler.workrail.tree import json_value, mapping, mappings, text
from handrail.language.patterns.match import BadPattern
from handrail.language.patterns.read import pattern_of
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar
from handrail.model.workflow.guidance import Confirmation
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, ContextCondition, Negation

ORDER = (
    "equals",
    "not_equals",
    "gt",
    "gte",
    "lt",
    "lte",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "in",
)
"""Operators in the order in which WorkRail's evaluator tries them."""
GROUPS = ("and", "or", "not")


def lower_condition(node: Mapping, report: Report) -> ContextCondition:
    """Lower a condition, reporting the parts that are ignored or can never hold."""
    if not node.entries:
        return Always()
    if "var" in node:
        return _compare(node, report)
    present = [name for name in GROUPS if name in node]
    if not present:
        first = next(iter(node))
        report.error("missing-key", f"'{first.name}' requires 'var'", first, "name the context variable to test")
        return Always()
    _warn_ignored(node, {present[0]}, report)
    match present[0]:
        case "and":
            return AllOf(_parts(node, "and", report))
        case "or":
            return AnyOf(_parts(node, "or", report))
        case _:
            return Negation(_lower_inner(mapping(node, "not") or node, report))


def optional_condition(node: Mapping, name: str, report: Report) -> ContextCondition | None:
    """Lower the condition under a key, or return None when there is none."""
    found = mapping(node, name)
    return lower_condition(found, report) if found is not None else None


def _compare(node: Mapping, report: Report) -> Compare:
    operator = next((name for name in ORDER if name in node), None)
    _warn_ignored(node, {"var", operator or "var"}, report)
    variable = text(node, "var") or ""
    if operator is None:
        return Compare(variable, "truthy")
    operand = node.entries[operator].value
    if operator == "matches":
        check_pattern(operand, report)
    return Compare(variable, operator, json_value(operand))


def _warn_ignored(node: Mapping, used: set[str], report: Report) -> None:
    for entry in node:
        if entry.name not in used:
            decides = ", ".join(f"'{name}'" for name in sorted(used - {"var"})) or "'var' alone"
            hint = 'combine conditions with {"and": [...]}'
            report.warning("ignored-operator", f"'{entry.name}' is ignored, {decides} decides", entry, hint)


def _parts(node: Mapping, name: str, report: Report) -> tuple[ContextCondition, ...]:
    return tuple(_lower_inner(part, report) for part in mappings(node, name))


def _lower_inner(node: Mapping, report: Report) -> ContextCondition:
    if not node.entries:
        report.warning("empty-condition", "an empty condition makes the condition around it false", node, "remove it")
    return lower_condition(node, report)


def check_pattern(node: Node, report: Report) -> None:
    """Refuse a regular expression that is too long, does not compile, or could take forever."""
    try:
        pattern_of(str(node.value) if isinstance(node, Scalar) else "")
    except BadPattern as problem:
        report.error("bad-pattern", str(problem), node)


def lower_confirmation(step: Mapping, report: Report) -> Confirmation | None:
    """Lower `requireConfirmation`: a boolean, a condition, or a kind with a condition."""
    node = step.get("requireConfirmation")
    if isinstance(node, Scalar):
        return Confirmation() if node.value is True else None
    if not isinstance(node, Mapping):
        return None
    if "kind" not in node and "condition" not in node:
        return Confirmation(condition=lower_condition(node, report))
    for entry in node:
        _check_kind_form(entry, node, report)
    condition = optional_condition(node, "condition", report)
    by = "human_approval" if text(node, "kind") == "human_approval" else "coordinator_eval"
    return Confirmation(condition=condition, by=by)


def _check_kind_form(entry: Entry, node: Mapping, report: Report) -> None:
    if entry.name not in {"kind", "condition"}:
        hint = 'write {"kind": ..., "condition": {...}}'
        report.error("conflicting-keys", f"'{entry.name}' belongs in 'condition' here", entry, hint)
    elif entry.name == "condition" and "kind" not in node:
        hint = "write the condition directly, or add kind: coordinator_eval or human_approval"
        report.error("missing-key", "'condition' requires 'kind'", entry, hint)

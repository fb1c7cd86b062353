"""Lowers validation criteria: rules for the text that a step returns."""

from typing import Literal, TypeAlias, cast

from handrail.compiler.workrail.conditions import check_pattern, optional_condition
from handrail.compiler.workrail.tree import integer, json_value, mapping, mappings, text
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Sequence
from handrail.model.workflow.guidance import Validation, ValidationGroup, ValidationRule

Operator: TypeAlias = Literal["and", "or", "not"]
GROUPS: tuple[Operator, ...] = ("and", "or", "not")
NEEDS = {"contains": ("value",), "regex": ("pattern",), "length": ("min", "max"), "schema": ("schema",)}
"""For each type of rule, the keys of which it needs one."""
OWN = {**NEEDS, "regex": ("pattern", "flags")}


def lower_validation(step: Mapping, report: Report) -> Validation | None:
    """Lower `validationCriteria`: a list of rules that must all hold, or a combination of rules."""
    node = step.get("validationCriteria")
    if isinstance(node, Mapping):
        return _criteria(node, report)
    if isinstance(node, Sequence) and node.items:
        return ValidationGroup("and", tuple(_criteria(rule, report) for rule in mappings(step, "validationCriteria")))
    return None


def _criteria(node: Mapping, report: Report) -> Validation:
    operator: Operator | None = next((name for name in GROUPS if name in node.entries), None)
    if operator is None:
        return _rule(node, report)
    for entry in node:
        if entry.name != operator:
            hint = "move it to the rules inside"
            report.error("conflicting-keys", f"'{entry.name}' cannot be combined with '{operator}'", entry, hint)
    inner = mapping(node, "not")
    parts = (inner,) if operator == "not" and inner is not None else mappings(node, operator)
    return ValidationGroup(operator, tuple(_criteria(part, report) for part in parts))


def _rule(node: Mapping, report: Report) -> ValidationRule:
    kind = cast('Literal["contains", "regex", "length", "schema"]', text(node, "type"))
    _check(node, kind, report)
    pattern, schema = node.get("pattern"), node.get("schema")
    if pattern is not None and kind == "regex":
        check_pattern(pattern, report)
    return ValidationRule(
        kind,
        text(node, "message") or "",
        value=text(node, "value"),
        pattern=text(node, "pattern"),
        flags=_flags(text(node, "flags")),
        min=integer(node, "min"),
        max=integer(node, "max"),
        schema=json_value(schema) if schema is not None else None,
        condition=optional_condition(node, "condition", report),
    )


def _check(node: Mapping, kind: str, report: Report) -> None:
    place = node.entries["type"].value
    if "message" not in node:
        report.error("missing-key", "a validation rule needs 'message'", place, "describe what is wrong when it fails")
    if not any(name in node for name in NEEDS[kind]):
        wanted = " or ".join(f"'{name}'" for name in NEEDS[kind])
        report.error("missing-key", f"a rule of type {kind} needs {wanted}", place)
    for entry in node:
        if entry.name not in {"type", "message", "condition", *OWN[kind]}:
            report.warning("no-effect", f"'{entry.name}' has no effect on a rule of type {kind}", entry)
    least, most = integer(node, "min"), integer(node, "max")
    if least is not None and most is not None and least > most:
        message = f"no length can be at least {least} and at most {most}"
        report.error("bad-value", message, node.entries["max"].value)


def _flags(flags: str | None) -> str | None:
    return "".join(sorted(set(flags))) if flags is not None else None

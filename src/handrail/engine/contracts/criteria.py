"""Checks the notes of a step against its validation criteria."""

import json

from handrail.engine.contracts.context_conditions import Context, describe_condition, holds
from handrail.engine.contracts.schema import fits
from handrail.language.patterns.read import has_match
from handrail.model.workflow.guidance import Validation, ValidationGroup, ValidationRule
from handrail.model.workflow.values import JsonValue


def find_unmet_rules(criteria: Validation, text: str, context: Context) -> tuple[str, ...]:
    """Return the messages of the rules that a text does not meet; empty if it meets the criteria as a whole."""
    if _is_met(criteria, text, context) is not False:
        return ()
    # Inside a negation, possibly no single rule is to blame.
    return tuple(dict.fromkeys(_messages(criteria, text, context))) or ("the notes match a rule that must not match",)


def _is_met(criteria: Validation, text: str, context: Context) -> bool | None:
    """Whether criteria are met; None if none of them applies."""
    if isinstance(criteria, ValidationRule):
        if criteria.condition is not None and not holds(criteria.condition, context):
            return None
        return _RULES[criteria.type](criteria, text)
    results = [result for part in criteria.parts if (result := _is_met(part, text, context)) is not None]
    if not results:
        return None
    match criteria.operator:
        case "and":
            return all(results)
        case "or":
            return any(results)
        case "not":
            return not any(results)


def _messages(criteria: Validation, text: str, context: Context) -> list[str]:
    if isinstance(criteria, ValidationRule):
        return [criteria.message]
    blamed = [part for part in criteria.parts if _is_to_blame(criteria, _is_met(part, text, context))]
    return [message for part in blamed for message in _messages(part, text, context)]


def _is_to_blame(group: ValidationGroup, met: bool | None) -> bool:
    return met is (group.operator == "not")


def _contains(rule: ValidationRule, text: str) -> bool:
    return (rule.value or "") in text


def _regex(rule: ValidationRule, text: str) -> bool:
    return has_match(rule.pattern or "", text, rule.flags or "")


def _length(rule: ValidationRule, text: str) -> bool:
    return (rule.min is None or len(text) >= rule.min) and (rule.max is None or len(text) <= rule.max)


def _schema(rule: ValidationRule, text: str) -> bool:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return fits(rule.schema, value)


_RULES = {"contains": _contains, "regex": _regex, "length": _length, "schema": _schema}


def requirements(criteria: Validation) -> tuple[str, ...]:
    """Describe what criteria ask for, one line per rule."""
    if isinstance(criteria, ValidationRule):
        return (f"{_proviso(criteria)}{_requirement(criteria)}",)
    lines = tuple(line for part in criteria.parts for line in requirements(part))
    if criteria.operator == "or" and len(lines) > 1:
        return ("one of these: " + " | ".join(lines),)
    return tuple(f"not: {line}" for line in lines) if criteria.operator == "not" else lines


def _proviso(rule: ValidationRule) -> str:
    return "" if rule.condition is None else f"where {describe_condition(rule.condition)}: "


def _requirement(rule: ValidationRule) -> str:
    match rule.type:
        case "contains":
            return f"must contain: {rule.value}"
        case "regex":
            return f"must match: {rule.pattern}"
        case "length":
            bounds = (("at least", rule.min), ("at most", rule.max))
            words = " and ".join(f"{word} {limit}" for word, limit in bounds if limit is not None)
            return f"length: {words} characters"
        case "schema":
            return f"must be JSON of this schema: {json.dumps(rule.schema, ensure_ascii=False)}"

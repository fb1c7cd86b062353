"""Conditions, values, bounds and types as text."""

import json

from handrail.compiler.bounds import UNKNOWN, Bound
from handrail.compiler.record_types import ISSUE
from handrail.model.workflow.plan import Input
from handrail.model.workflow.types import describe
from handrail.model.workflow.values import (
    AllOf,
    Always,
    AnyOf,
    Compare,
    Condition,
    Constant,
    Expression,
    JsonValue,
    ListOfValues,
    MapOfValues,
    Negation,
    TextWithHoles,
    Value,
)

SIGNS = {"equals": "==", "not_equals": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def condition_words(condition: Condition) -> str:
    """Format a condition as one line."""
    match condition:
        case Expression():
            return condition.source
        case Compare(operator="truthy"):
            return condition.var
        case Compare():
            operand = json.dumps(condition.operand, ensure_ascii=False)
            return f"{condition.var} {SIGNS.get(condition.operator, condition.operator)} {operand}"
        case AllOf():
            return " and ".join(_parenthesize(part) for part in condition.parts)
        case AnyOf():
            return " or ".join(_parenthesize(part) for part in condition.parts)
        case Negation():
            return f"not {_parenthesize(condition.part)}"
        case Always():
            return "always"


def value_words(value: Value) -> str:
    """Format a value of a plan as its author would: a constant as it is, an expression as `${...}`."""
    match value:
        case Constant():
            return value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False)
        case Expression():
            return f"${{{value.source}}}"
        case TextWithHoles():
            return "".join(part if isinstance(part, str) else value_words(part) for part in value.parts)
        case ListOfValues():
            return f"[{', '.join(value_words(each) for each in value.items)}]"
        case MapOfValues():
            return f"{{{', '.join(f'{each.name}: {value_words(each.value)}' for each in value.entries)}}}"


def bound_words(bound: Bound) -> str:
    """Format how many agent calls a run may need: `2 to 19 agent calls`."""
    if bound == UNKNOWN:
        return "an unknown number of agent calls"
    if bound.most is None:
        return f"{bound.least} or more agent calls"
    if bound.least == bound.most:
        return f"{bound.least} agent call" + ("" if bound.least == 1 else "s")
    return f"{bound.least} to {bound.most} agent calls"


def short_hash(definition: str, length: int = 4) -> str:
    """Return the beginning of a pinned version's hash, long enough to distinguish versions."""
    return definition.removeprefix("sha256:")[:length]


def default_text(declared: Input) -> JsonValue:
    """Return an input's default, or the name from which it is taken, as its author wrote it."""
    return f"${{{declared.default_from}}}" if declared.default_from else declared.default


def input_type(declared: Input) -> str:
    """Format an input's type as its author wrote it."""
    return "issue" if declared.type == ISSUE else describe(declared.type)


def _parenthesize(part: Condition) -> str:
    words = condition_words(part)
    return f"({words})" if isinstance(part, AllOf | AnyOf) else words

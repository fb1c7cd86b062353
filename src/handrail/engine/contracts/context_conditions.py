"""WorkRail's conditions over a flat context: lenient comparison, JavaScript's truthiness, and nothing ever raises."""

from collections.abc import Callable, Mapping

from handrail.engine.contracts.javascript_values import is_number, is_truthy, number_of, text_of, trim
from handrail.language.patterns.read import has_match
from handrail.model.history.events import Why
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, ContextCondition, JsonValue, Negation

Context = Mapping[str, JsonValue]

_YES = frozenset({"true", "1", "yes"})
_NO = frozenset({"false", "0", "no"})


class _MeaninglessCondition(Exception):
    """A part of the condition is meaningless, so the whole condition is false."""


def holds(condition: ContextCondition, context: Context) -> bool:
    """Whether a condition is true; an empty one is, unless it is nested in another."""
    if isinstance(condition, Always):
        return True
    try:
        return _holds(condition, context)
    except _MeaninglessCondition:
        return False


def evaluate_condition(condition: ContextCondition, context: Context) -> Why:
    """Evaluate a condition and record the values that decided it."""
    read = {name: context.get(name) for name in variables(condition)}
    return Why(describe_condition(condition), read, holds(condition, context))


def _holds(condition: ContextCondition, context: Context) -> bool:
    match condition:
        case Compare():
            return _COMPARED[condition.operator](context.get(condition.var), condition.operand)
        case AllOf():
            return all(_holds(part, context) for part in condition.parts)
        case AnyOf():
            return any(_holds(part, context) for part in condition.parts)
        case Negation():
            return not _holds(condition.part, context)
        case Always():
            raise _MeaninglessCondition


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Compare leniently: ignore case and surrounding whitespace, and let texts stand for numbers, yes and no."""
    if one is None or other is None:
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return trim(one).lower() == trim(other).lower()
    if isinstance(one, str):
        return _stands_for(one, other)
    if isinstance(other, str):
        return _stands_for(other, one)
    # WorkRail compares lists and maps by identity, so none that came from outside equals another.
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return False
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _stands_for(text: str, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return trim(text).lower() in (_YES if value else _NO)
    return is_number(value) and number_of(text) == value


def _plain(value: JsonValue) -> str:
    return "" if value is None else trim(text_of(value))


def _casefold_text(value: JsonValue) -> str:
    return _plain(value).lower()


def _make_number_comparison(decide: Callable[[float, float], bool]) -> Callable[[JsonValue, JsonValue], bool]:
    def compare(value: JsonValue, operand: JsonValue) -> bool:
        if isinstance(value, bool | str | list | dict | None) or isinstance(operand, bool | str | list | dict | None):
            return False
        return decide(value, operand)

    return compare


def _matches(value: JsonValue, operand: JsonValue) -> bool:
    return has_match(text_of(operand), _plain(value), "i")


def _is_in_list(value: JsonValue, operand: JsonValue) -> bool:
    return isinstance(operand, list) and any(equal(value, item) for item in operand)


_COMPARED: dict[str, Callable[[JsonValue, JsonValue], bool]] = {
    "truthy": lambda value, _: is_truthy(value),
    "equals": equal,
    "not_equals": lambda value, operand: not equal(value, operand),
    "gt": _make_number_comparison(lambda value, operand: value > operand),
    "gte": _make_number_comparison(lambda value, operand: value >= operand),
    "lt": _make_number_comparison(lambda value, operand: value < operand),
    "lte": _make_number_comparison(lambda value, operand: value <= operand),
    "contains": lambda value, operand: _casefold_text(operand) in _casefold_text(value),
    "startsWith": lambda value, operand: _casefold_text(value).startswith(_casefold_text(operand)),
    "endsWith": lambda value, operand: _casefold_text(value).endswith(_casefold_text(operand)),
    "matches": _matches,
    "in": _is_in_list,
}


def variables(condition: ContextCondition) -> tuple[str, ...]:
    """List the names that a condition reads, each once."""
    match condition:
        case Compare():
            return (condition.var,)
        case AllOf() | AnyOf():
            return tuple(dict.fromkeys(name for part in condition.parts for name in variables(part)))
        case Negation():
            return variables(condition.part)
        case Always():
            return ()


def describe_condition(condition: ContextCondition) -> str:
    """Describe a condition in one line."""
    match condition:
        case Compare():
            written = (
                "" if condition.operator == "truthy" else f" {condition.operator} {_format_value(condition.operand)}"
            )
            return condition.var + written
        case AllOf():
            return " and ".join(_describe_part(part) for part in condition.parts) or "always"
        case AnyOf():
            return " or ".join(_describe_part(part) for part in condition.parts) or "never"
        case Negation():
            return f"not {_describe_part(condition.part)}"
        case Always():
            return "always"


def _describe_part(part: ContextCondition) -> str:
    return f"({describe_condition(part)})" if isinstance(part, AllOf | AnyOf) else describe_condition(part)


def _format_value(value: JsonValue) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    return f"'{value}'" if isinstance(value, str) else text_of(value)

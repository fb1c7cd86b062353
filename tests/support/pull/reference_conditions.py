"""WorkRail's conditions, written from their description alone: lenient equality, first operator wins."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

Json = dict[str, Any]
ORDER = ("equals", "not_equals", "gt", "gte", "lt", "lte", "contains", "startsWith", "endsWith", "matches", "in")
_YES, _NO = {"true", "1", "yes"}, {"false", "0", "no"}


class Odd(Exception):
    """A condition that is none: the whole of it is false."""


def holds(condition: Json | None, context: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds; none at all always does."""
    if not condition:
        return True
    try:
        return _holds(condition, context)
    except Odd:
        return False


def _holds(condition: Json, context: Mapping[str, Any]) -> bool:
    if "var" in condition:
        return _about_variable(condition, context.get(condition["var"]))
    if "and" in condition:
        return all(_holds(each, context) for each in condition["and"])
    if "or" in condition:
        return any(_holds(each, context) for each in condition["or"])
    if "not" in condition:
        return not _holds(condition["not"], context)
    raise Odd


def _about_variable(condition: Json, value: Any) -> bool:
    for operator in ORDER:
        if operator in condition:
            return _OPERATORS[operator](value, condition[operator])
    return truthy(value)


def truthy(value: Any) -> bool:
    """Count as JavaScript does: an empty list is something."""
    return True if isinstance(value, list | dict) else bool(value)


def same(one: Any, other: Any) -> bool:
    """Lenient equality."""
    if one is None or other is None:
        return one is other
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return False
    if isinstance(one, str) and isinstance(other, str):
        return one.strip().lower() == other.strip().lower()
    if isinstance(one, str) or isinstance(other, str):
        text, value = (one, other) if isinstance(one, str) else (other, one)
        return _text_is(text.strip().lower(), value)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _text_is(text: str, value: Any) -> bool:
    if isinstance(value, bool):
        return text in (_YES if value else _NO)
    return _number(text) == value


def _number(text: str) -> float | None:
    if not text:
        return 0.0
    return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text) else None


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def decide(value: Any, operand: Any) -> bool:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and compare(float(value), float(operand))

    return decide


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(_written, cast("list[Any]", value)))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _textual(compare: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def decide(value: Any, operand: Any) -> bool:
        return value is not None and compare(_written(value).strip().lower(), str(operand).strip().lower())

    return decide


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": same,
    "not_equals": lambda value, operand: not same(value, operand),
    "gt": _ordered(lambda one, other: one > other),
    "gte": _ordered(lambda one, other: one >= other),
    "lt": _ordered(lambda one, other: one < other),
    "lte": _ordered(lambda one, other: one <= other),
    "contains": _textual(lambda text, part: part in text),
    "startsWith": _textual(lambda text, part: text.startswith(part)),
    "endsWith": _textual(lambda text, part: text.endswith(part)),
    "matches": lambda value, operand: value is not None and bool(re.search(operand, _written(value), re.IGNORECASE)),
    "in": lambda value, operand: any(same(value, each) for each in operand),
}

"""Plain data and the budget every operation on it is charged to: what values are, how they compare, how they print."""

import json
from typing import Literal, NoReturn, Protocol, TypeAlias, cast

from handrail.frozen import frozen
from handrail.language.problems import EvaluationError, Problem, UndefinedError

Value: TypeAlias = "bool | int | float | str | list[Value] | tuple[Value, ...] | dict[str, Value] | None"
Kind: TypeAlias = Literal["none", "boolean", "number", "text", "list", "map"]

MAX_DEPTH = 100
"""Levels of data that are walked; JSON that nests deeper is refused, not recursed into."""
MAX_INT = 2**63
_MAX_INT_DIGITS = 1000
_LONG = 100

_KINDS: dict[type, Kind] = {
    type(None): "none",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "map",
}


@frozen
class Limits:
    """How much one evaluation or one rendering may use."""

    fuel: int = 100_000
    text: int = 1 << 20
    items: int = 100_000


class _Place(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Budget:
    """Fuel and sizes that are left, and the place in the text that is being evaluated, for messages."""

    __slots__ = ("fuel", "limits", "place")

    def __init__(self, limits: Limits, place: _Place) -> None:
        self.limits = limits
        self.fuel = limits.fuel
        self.place = place

    def spend(self, steps: int = 1) -> None:
        """Use up fuel."""
        self.fuel -= steps
        if self.fuel < 0:
            hint = "work on less data, or do it in a script step"
            self.fail("expression-too-large", f"the evaluation takes more than {self.limits.fuel} operations", hint)

    def spend_text(self, size: int) -> None:
        """Charge for reading or building a text, which must not be longer than the limit."""
        if size > self.limits.text:
            hint = "shorten it with `truncate`, or pass it on as a file"
            self.fail("expression-too-large", f"the text is longer than {self.limits.text} characters", hint)
        self.spend(1 + size // 1024)

    def spend_items(self, count: int) -> None:
        """Charge for reading or building a list or map, which must not be larger than the limit."""
        if count > self.limits.items:
            self.fail("expression-too-large", f"the list is longer than {self.limits.items} items")
        self.spend(1 + count // 8)

    def fail(self, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Stop the evaluation."""
        raise EvaluationError(Problem(code, message, self.place.start, self.place.end, hint))

    def fail_undefined(self, message: str, hint: str | None = None) -> NoReturn:
        """Stop the evaluation, unless it is guarded by `default` or `is defined`."""
        raise UndefinedError(Problem("undefined-value", message, self.place.start, self.place.end, hint))


def plain(value: object, budget: Budget) -> Value:
    """Accept a value if it is plain data itself; its content is checked when it is reached."""
    kind = _KINDS.get(type(value))
    if kind is None:
        budget.fail("type-mismatch", f"a value is a Python {type(value).__name__}, not plain data")
    if type(value) is int and value.bit_length() > _MAX_INT_DIGITS:
        budget.fail("expression-too-large", "the number is too large")
    return cast("Value", value)


def kind_of(value: Value) -> Kind:
    """Return the kind of a plain value."""
    return _KINDS[type(value)]


def describe_kind(value: Value) -> str:
    """Name the kind of a value for a message: `a text`, `none`."""
    kind = kind_of(value)
    return kind if kind == "none" else f"a {kind}"


def is_equal(left: Value, right: Value, budget: Budget, depth: int = 0) -> bool:
    """Compare by value; different kinds are never equal, a boolean is not a number."""
    budget.spend()
    kind = kind_of(plain(left, budget))
    if kind != kind_of(plain(right, budget)):
        return False
    if depth > MAX_DEPTH:
        budget.fail("expression-too-large", f"the data nests deeper than {MAX_DEPTH} levels")
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            key in right and is_equal(value, right[key], budget, depth + 1) for key, value in left.items()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(
            is_equal(one, other, budget, depth + 1) for one, other in zip(left, right, strict=True)
        )
    return left == right


def require_ordered(left: Value, right: Value, budget: Budget) -> tuple[str, str] | tuple[float, float]:
    """Return two values that have an order, numbers or texts, or refuse."""
    if isinstance(left, str) and isinstance(right, str):
        budget.spend_text(min(len(left), len(right)))
        return left, right
    if is_number(left) and is_number(right):
        return cast("float", left), cast("float", right)
    message = f"{describe_kind(left)} and {describe_kind(right)} cannot be ordered"
    return budget.fail("type-mismatch", message, "compare two numbers, or two texts; convert with `| number`")


def is_number(value: Value) -> bool:
    """Whether it is a number; a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def text_of(value: Value, budget: Budget) -> str:
    """Format a value as it appears in text: texts as they are, lists and maps as readable JSON, none as `none`."""
    match value:
        case str():
            text = value
        case None:
            text = "none"
        case bool():
            text = "true" if value else "false"
        case int() | float():
            text = str(value)
        case _:
            text = json_of(value, budget)
            if len(text) > _LONG:
                text = json_of(value, budget, indent=2)
    budget.spend_text(len(text))
    return text


def json_of(value: Value, budget: Budget, indent: int | None = None) -> str:
    """Format a value as JSON, after walking it so that shared parts cannot grow it past the limit."""
    _measure(value, budget, 0)
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _measure(value: object, budget: Budget, depth: int) -> int:
    inner = plain(value, budget)
    budget.spend()
    size = len(inner) + 2 if isinstance(inner, str) else 8
    if depth > MAX_DEPTH:
        budget.fail("expression-too-large", f"the data nests deeper than {MAX_DEPTH} levels")
    if isinstance(inner, dict):
        for key in cast("dict[object, object]", inner):
            size += 4 + len(key) if type(key) is str else budget.fail("type-mismatch", "a key of a map is not a text")
        inner = list(inner.values())
    if isinstance(inner, list | tuple):
        for item in inner:
            size += 2 + depth + _measure(item, budget, depth + 1)
            if size > budget.limits.text:
                budget.spend_text(size)
    return size

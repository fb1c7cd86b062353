"""Filters on numbers, lists and maps. Input data is never changed."""

from typing import cast

from handrail.language.expressions.filters_text import check_int
from handrail.language.expressions.lookup import field_of
from handrail.language.problems import UndefinedError
from handrail.language.values import MAX_INT, Budget, Value, describe_kind, is_equal, is_number, plain

_MAX_NUMBER_LENGTH = 40


def default(value: Value, arguments: tuple[Value, ...], _: Budget) -> Value:
    """Return the argument instead of none; the evaluator does the same for what is undefined."""
    return arguments[0] if value is None else value


def length(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Count characters, items or keys."""
    budget.spend()
    return len(cast("str", value))


def first(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Return the first item."""
    return _pick_item(value, 0, "first", budget)


def last(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Return the last item."""
    return _pick_item(value, -1, "last", budget)


def _pick_item(value: Value, index: int, word: str, budget: Budget) -> Value:
    items_ = cast("list[Value]", value)
    if not items_:
        budget.fail_undefined(f"an empty list has no {word} item", "guard it: `| default(...)`")
    return plain(items_[index], budget)


def keys(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Return the keys of a map."""
    budget.spend_items(len(cast("dict[str, Value]", value)))
    return [plain(key, budget) for key in cast("dict[str, Value]", value)]


def values(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Return the values of a map."""
    budget.spend_items(len(cast("dict[str, Value]", value)))
    return list(cast("dict[str, Value]", value).values())


def items(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert a map to a list of `{key, value}`."""
    entries = cast("dict[str, Value]", value)
    budget.spend_items(len(entries))
    budget.spend(len(entries) // 2)
    return [{"key": key, "value": item} for key, item in entries.items()]


def convert_to_list(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Convert anything that can be iterated over to a list."""
    if isinstance(value, dict):
        return items(value, arguments, budget)
    budget.spend_items(len(cast("str", value)))
    return list(cast("list[Value]", value))


def reverse(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Reverse a list."""
    budget.spend_items(len(cast("list[Value]", value)))
    return list(reversed(cast("list[Value]", value)))


def pluck(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Return one field of every item."""
    return list(_pick_fields(value, arguments[0], budget))


def select_items(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Keep the items whose field equals a value."""
    return [item for item in cast("list[Value]", value) if _matches(item, arguments, budget)]


def reject_items(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Drop the items whose field equals a value."""
    return [item for item in cast("list[Value]", value) if not _matches(item, arguments, budget)]


def _matches(item: Value, arguments: tuple[Value, ...], budget: Budget) -> bool:
    try:
        found = field_of(item, cast("str", arguments[0]), budget)
    except UndefinedError:
        return False
    return is_equal(found, arguments[1], budget)


def sort(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Sort numbers or texts, or items by such a field."""
    source = cast("list[Value]", value)
    sortable = _sortable(_pick_fields(value, arguments[0], budget), budget)
    budget.spend(len(source) // 2)
    order = sorted(range(len(source)), key=sortable.__getitem__, reverse=arguments[1] is True)
    return [source[index] for index in order]


def smallest(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Return the smallest item."""
    return _extreme(value, arguments, budget, -1)


def largest(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Return the largest item."""
    return _extreme(value, arguments, budget, 1)


def _extreme(value: Value, arguments: tuple[Value, ...], budget: Budget, sign: int) -> Value:
    sortable = _sortable(_pick_fields(value, arguments[0], budget), budget)
    if not sortable:
        budget.fail_undefined("an empty list has no smallest or largest item", "guard it: `| default(...)`")
    pick = max if sign > 0 else min
    return cast("list[Value]", value)[pick(range(len(sortable)), key=sortable.__getitem__)]


def total(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Add numbers up."""
    result: float = 0
    for item in _pick_fields(value, arguments[0], budget):
        result = check_bounds(result + number(item, budget), budget)
    return result


def unique(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Keep the first of equal items."""
    seen: set[tuple[bool, Value]] = set()
    kept: list[Value] = []
    for item, key in zip(cast("list[Value]", value), _pick_fields(value, arguments[0], budget), strict=True):
        if isinstance(key, list | tuple | dict):
            budget.fail(
                "type-mismatch", f"`unique` cannot compare {describe_kind(key)}", "name a field: `unique('id')`"
            )
        if (isinstance(key, bool), key) not in seen:
            seen.add((isinstance(key, bool), key))
            kept.append(item)
    return kept


def absolute(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Remove the sign of a number."""
    return check_bounds(abs(number(value, budget)), budget)


def round_number(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Round a number; without digits the result is a whole number."""
    digits = check_int(arguments[0], budget, 0, 15)
    source = check_bounds(number(value, budget), budget)
    return check_bounds(round(source, digits) if digits else round(source), budget)


def convert_to_int(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert to a whole number."""
    return check_bounds(int(check_bounds(_read(value, budget), budget)), budget)


def convert_to_number(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert to a number."""
    return check_bounds(_read(value, budget), budget)


def _read(value: Value, budget: Budget) -> float:
    if not isinstance(value, str):
        return number(value, budget)
    text = value.strip() if len(value) <= _MAX_NUMBER_LENGTH else ""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return budget.fail("type-mismatch", f"'{value[:_MAX_NUMBER_LENGTH]}' is not a number")


def number(value: Value, budget: Budget) -> float:
    """Return a number as it is, or refuse; a boolean is not one."""
    if not is_number(value):
        budget.fail(
            "type-mismatch", f"{describe_kind(value)} is not a number", "convert text with `| number`; join with `~`"
        )
    return cast("float", value)


def check_bounds(value: float, budget: Budget) -> float:
    """Refuse numbers that grow without bound."""
    if isinstance(value, int):
        if abs(value) > MAX_INT:
            budget.fail("expression-too-large", "the number is too large")
    elif value != value or abs(value) > 1e308:  # noqa: PLR0124 - only NaN differs from itself
        budget.fail("expression-too-large", "the result is too large or not a number")
    return value


def _pick_fields(value: Value, attribute: Value, budget: Budget) -> list[Value]:
    source = cast("list[Value]", value)
    budget.spend_items(len(source))
    if attribute is None:
        return [plain(item, budget) for item in source]
    return [field_of(item, cast("str", attribute), budget) for item in source]


def _sortable(keys_: list[Value], budget: Budget) -> list[float] | list[str]:
    if all(isinstance(key, str) for key in keys_):
        for key in keys_:
            budget.spend(len(cast("str", key)) // 1024)
        return cast("list[str]", keys_)
    if all(is_number(key) for key in keys_):
        return cast("list[float]", keys_)
    return budget.fail(
        "type-mismatch", "a list of only numbers or only texts can be sorted", "name a field: `sort('title')`"
    )

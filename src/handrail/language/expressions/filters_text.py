"""Filters on text. Sizes are checked before anything is built."""

from typing import cast

from handrail.language.expressions.lookup import field_of
from handrail.language.values import Budget, Value, json_of, text_of

_MAX_WIDTH = 100


def upper(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert to upper case."""
    return _charge_text(cast("str", value).upper(), budget)


def lower(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert to lower case."""
    return _charge_text(cast("str", value).lower(), budget)


def trim(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Strip white space from both ends."""
    return _charge_text(cast("str", value).strip(), budget)


def basename(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Return the last part of a path."""
    return _charge_text(cast("str", value).rstrip("/").rpartition("/")[2], budget)


def starts_with(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Whether a text begins with another."""
    budget.spend()
    return cast("str", value).startswith(cast("str", arguments[0]))


def ends_with(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Whether a text ends with another."""
    budget.spend()
    return cast("str", value).endswith(cast("str", arguments[0]))


def convert_to_text(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Convert a value to text, as it appears in a prompt."""
    return text_of(value, budget)


def convert_to_json(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Convert a value to JSON text."""
    indent_ = None if arguments[0] is None else check_int(arguments[0], budget, 0, 8)
    return _charge_text(json_of(value, budget, indent_), budget)


def replace(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Replace every occurrence of a text."""
    text, old, new = cast("str", value), cast("str", arguments[0]), cast("str", arguments[1])
    if not old:
        budget.fail("type-mismatch", "`replace` needs text to search for")
    budget.spend_text(len(text))
    budget.spend_text(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def split(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Split a text at a separator."""
    text, separator = cast("str", value), cast("str | None", arguments[0])
    if separator == "":
        budget.fail("type-mismatch", "`split` needs a separator that is not empty")
    budget.spend_text(len(text))
    parts = text.split(separator, budget.limits.items)
    budget.spend_items(len(parts))
    return cast("Value", parts)


def lines(value: Value, _: tuple[Value, ...], budget: Budget) -> Value:
    """Split a text into its lines."""
    text = cast("str", value)
    budget.spend_text(len(text))
    budget.spend_items(text.count("\n"))
    parts = text.replace("\r\n", "\n").split("\n")
    return cast("Value", parts[:-1] if parts[-1] == "" else parts)


def join(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Join the items of a list, or one field of each, to a text."""
    separator, attribute = cast("str", arguments[0]), arguments[1]
    size = 0
    parts: list[str] = []
    for item in cast("list[Value]", value):
        chosen = item if attribute is None else field_of(item, cast("str", attribute), budget)
        part = text_of(chosen, budget)
        size += len(part) + len(separator)
        if size > budget.limits.text:
            budget.spend_text(size)
        parts.append(part)
    return _charge_text(separator.join(parts), budget)


def indent(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Indent every line but the first."""
    text, width = cast("str", value), check_int(arguments[0], budget, 0, _MAX_WIDTH)
    budget.spend_text(len(text) + width * text.count("\n"))
    space = " " * width
    first, *rest = text.split("\n")
    return "\n".join([first, *(space + line if line.strip() else line for line in rest)])


def truncate(value: Value, arguments: tuple[Value, ...], budget: Budget) -> Value:
    """Shorten a text, with a mark at its end."""
    text, end = cast("str", value), cast("str", arguments[1])
    length = check_int(arguments[0], budget, 0, budget.limits.text)
    if len(text) <= length:
        return text
    return _charge_text((text[: max(0, length - len(end))] + end)[:length], budget)


def check_int(value: Value, budget: Budget, least: int, most: int) -> int:
    """Return a whole number between two bounds, or refuse."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        budget.fail("type-mismatch", f"expected a whole number from {least} to {most}")
    return value


def _charge_text(text: str, budget: Budget) -> str:
    budget.spend_text(len(text))
    return text

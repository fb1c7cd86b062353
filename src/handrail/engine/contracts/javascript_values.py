"""Converts values as JavaScript does, because WorkRail's conditions and prompts were written for it."""

import re

from handrail.model.workflow.values import JsonValue

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BASED = re.compile(r"0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_INFINITY = re.compile(r"[+-]?Infinity")
_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
MAX_FLOAT = 1.7976931348623157e308
MAX_PLAIN = 1e21
"""From this number on, JavaScript writes an exponent."""


def trim(text: str) -> str:
    """Strip what JavaScript considers whitespace from both ends."""
    return text.strip(_BLANKS)


def is_number(value: JsonValue) -> bool:
    """Whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_of(text: str) -> float | int | None:
    """Parse a text as `Number()` does: whitespace is ignored, an empty text is 0; None for NaN."""
    text = trim(text)
    if not text:
        return 0
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _INFINITY.fullmatch(text):
        return float(text.replace("Infinity", "inf"))
    return float(text) if _DECIMAL.fullmatch(text) else None


def is_truthy(value: JsonValue) -> bool:
    """Whether a value counts as true: empty text, 0 and null do not, empty lists and maps do."""
    if isinstance(value, list | dict):
        return True
    return bool(value) and value == value  # noqa: PLR0124 - only NaN differs from itself


def text_of(value: JsonValue) -> str:
    """Convert a value to text as `String()` does."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case list():
            return ",".join("" if item is None else text_of(item) for item in value)
        case dict():
            return "[object Object]"
        case _:
            return _number_text(value)


def _number_text(value: float) -> str:
    if abs(value) > MAX_FLOAT:
        return "Infinity" if value > 0 else "-Infinity"
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return "NaN"
    if value == int(value) and abs(value) < MAX_PLAIN:
        return str(int(value))
    return _format_with_exponent(float(value))


def _format_with_exponent(value: float) -> str:
    """Format a number as JavaScript does, which writes the same digits as Python but different exponents."""
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    digits = digits.removesuffix(".0")
    if -7 < power < 0:
        sign, plain = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}0.{'0' * (-power - 1)}{plain.replace('.', '')}"
    return f"{digits}e{'+' if power > 0 else '-'}{abs(power)}"


def type_name(value: JsonValue) -> str:
    """Return a value's type as `typeof` does."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if is_number(value) else "object"

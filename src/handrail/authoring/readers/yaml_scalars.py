"""Interprets unquoted YAML scalars by the core schema of YAML 1.2.

`yes`, `no`, `on`, `off`, dates and times are text, as are numbers with leading zeros, which are more often codes than
numbers.
"""

import re

from handrail.authoring.readers.limits import MAX_INT, inexact_number
from handrail.model.diagnostics import Report
from handrail.model.source import ScalarValue, Span

NOT_ALWAYS_TEXT = frozenset("0123456789+-.~nNtTfF")
"""First characters of scalars that may be something other than text."""

_WORDS: dict[str, ScalarValue] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_INT_LENGTH = len(str(MAX_INT)) + 1
_INFINITY = float("inf")


def plain_value(text: str, at: Span, report: Report) -> ScalarValue:
    """Return the value of an unquoted scalar; a number that cannot be represented is reported and replaced by 0."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return _check_int(text, int(text) if len(text) <= _MAX_INT_LENGTH else None, at, report)
    if _BASED.fullmatch(text):
        return _check_int(text, int(text[2:], 8 if text[1] == "o" else 16), at, report)
    if _FLOAT.fullmatch(text):
        return _float(text, at, report)
    if _NOT_FINITE.fullmatch(text):
        hint = f'write a number, or "{text}" in quotes if text is meant'
        report.error("bad-value", f"`{text}` is not a number that a workflow can contain", at, hint)
        return 0
    return text


def _check_int(text: str, value: int | None, at: Span, report: Report) -> int:
    if value is None or abs(value) > MAX_INT:
        inexact_number(text, at, report)
        return 0
    return value


def _float(text: str, at: Span, report: Report) -> float:
    value = float(text)
    if abs(value) == _INFINITY:
        inexact_number(text, at, report)
        return 0.0
    return value

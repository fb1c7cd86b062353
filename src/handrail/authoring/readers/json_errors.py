"""Explains what is wrong with a JSON text at the place where parsing stopped, in plain words with the fix."""

import re
from collections.abc import Callable
from typing import TypeAlias

from handrail.authoring.readers.limits import SyntaxProblem, shorten
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, Span

_STRING_START = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*')
_WORD = re.compile(r"[^\W\d][\w.$-]*")
_NUMBER = re.compile(r"[-+.\w]+")
_LITERALS = {
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
    "None": "null",
    "Null": "null",
    "NULL": "null",
    "undefined": "null",
}
_NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity"})
_WANTED = {
    "key": ("a key in double quotes", 'write a key, such as "name"'),
    "value": ("a value", "write a value here"),
    ":": ("`:`", "put `:` between a key and its value"),
    "nothing": ("the end of the file", "the whole file must be one value; remove what follows it"),
}


def explain(source: SourceText, at: int, wanted: str, in_object: bool | None) -> SyntaxProblem:
    """Explain what is wrong at an offset where something else was expected."""
    for starts, make in _EXPLANATIONS:
        if source.text.startswith(starts, at):
            found = make(source, at)
            if found is not None:
                return found
    return _explain_unexpected(source, at, wanted, in_object)


def explain_missing(source: SourceText, opened: int | None) -> SyntaxProblem:
    """Explain what is missing at the end of the text."""
    if opened is None:
        return SyntaxProblem("the file is empty", Span(source, 0, 0), 'a workflow starts with `{` and has "steps"')
    sign = source.text[opened]
    closing = "}" if sign == "{" else "]"
    return SyntaxProblem(
        f"the `{sign}` is never closed", Span(source, opened, opened + 1), f"add the missing `{closing}`"
    )


def trailing_comma(source: SourceText, at: int, closing: str, report: Report) -> None:
    """Report a comma with nothing after it, after which parsing can continue."""
    hint = f"remove the comma before `{closing}`"
    report.error("json-syntax", "a trailing comma is not allowed in JSON", Span(source, at, at + 1), hint)


def _comment(source: SourceText, at: int) -> SyntaxProblem | None:
    end = at + (1 if source.text[at] == "#" else 2)
    hint = "remove it; a workflow in YAML may contain comments"
    return SyntaxProblem("comments are not allowed in JSON", Span(source, at, end), hint)


def _single_quote(source: SourceText, at: int) -> SyntaxProblem | None:
    return SyntaxProblem("JSON text needs double quotes", Span(source, at, at + 1), "write \" instead of '")


def _string(source: SourceText, at: int) -> SyntaxProblem | None:
    found = _STRING_START.match(source.text, at)
    stop = found.end() if found else at
    sign = source.text[stop : stop + 1]
    if sign == "\\":
        written = shorten(source.text[stop : stop + 2])
        hint = "write `\\\\` for a backslash; `\\u` needs 4 digits"
        return SyntaxProblem(f"`{written}` is not a valid JSON escape", Span(source, stop, stop + 2), hint)
    if sign in {"", "\n", "\r"}:
        hint = 'add the closing "; a line break inside text is written as \\n'
        return SyntaxProblem('the quote " is not closed on its line', Span(source, at, at + 1), hint)
    if sign < " ":
        hint = "write it as an escape, such as \\t"
        return SyntaxProblem(
            f"the character U+{ord(sign):04X} is not allowed in text", Span(source, stop, stop + 1), hint
        )
    return None


def _word(source: SourceText, at: int) -> SyntaxProblem | None:
    found = _WORD.match(source.text, at)
    if found is None:
        return None
    word, span = found[0], Span(source, at, found.end())
    if word in _NOT_FINITE:
        return SyntaxProblem(f"`{word}` is not a JSON number", span, "write a finite number, or null")
    if word in _LITERALS:
        return SyntaxProblem(f"`{word}` is not a JSON keyword", span, f"write {_LITERALS[word]}")
    if word in {"true", "false", "null"}:
        return None
    return SyntaxProblem(f"`{shorten(word)}` needs double quotes", span, f'write "{shorten(word)}"')


def _bad_number(source: SourceText, at: int) -> SyntaxProblem | None:
    found = _NUMBER.match(source.text, at)
    if found is None or _GOOD_NUMBER.fullmatch(found[0]):
        return None
    written, span = found[0], Span(source, at, found.end())
    if written in _NOT_FINITE:
        return SyntaxProblem(f"`{written}` is not a JSON number", span, "write a finite number, or null")
    hint = "write it like 1, -0.5 or 2e3, without leading `+` or zeros"
    return SyntaxProblem(f"`{shorten(written)}` is not a JSON number", span, hint)


_GOOD_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _explain_unexpected(source: SourceText, at: int, wanted: str, in_object: bool | None) -> SyntaxProblem:
    sign = source.text[at]
    span = Span(source, at, at + 1)
    if wanted == "," and in_object is not None:
        closing = "}" if in_object else "]"
        hint = "put a comma between two values" if sign not in "]}" else f"close with `{closing}` first"
        return SyntaxProblem(f"expected `,` or `{closing}`, found `{shorten(sign)}`", span, hint)
    expected, hint = _WANTED.get(wanted, _WANTED["value"])
    return SyntaxProblem(
        f"expected {expected}, found `{shorten(sign)}`", span, "remove the comma" if sign == "," else hint
    )


_Explain: TypeAlias = Callable[[SourceText, int], SyntaxProblem | None]

_EXPLANATIONS: tuple[tuple[tuple[str, ...], _Explain], ...] = (
    (("//", "/*", "#"), _comment),
    (("'",), _single_quote),
    (('"',), _string),
    (tuple("+-.0123456789"), _bad_number),
    (("",), _word),
)
"""What the text at that place starts with, and the function that explains it; the first one with an answer is used."""

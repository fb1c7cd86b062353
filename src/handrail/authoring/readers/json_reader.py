"""Parses JSON to a positioned tree: RFC 8259, with one regular expression for tokens and an explicit stack."""

import json
import re
from typing import NoReturn

from handrail.authoring.readers.json_errors import explain, explain_missing, trailing_comma
from handrail.authoring.readers.limits import (
    BOM,
    MAX_DEPTH,
    MAX_INT,
    MAX_NODES,
    SURROGATE,
    ReadingStopped,
    check_size,
    duplicate_key,
    inexact_number,
    report_too_deep,
    report_too_many,
)
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, ScalarValue, Sequence, SourceText, Span

_TOKEN = re.compile(
    r"""
    [ \t\n\r]* (?:
        "([^"\\\x00-\x1f]* (?: \\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}) [^"\\\x00-\x1f]* )*)"
      | ([{}\[\],:])
      | (-? (?:0|[1-9][0-9]*) (?:\.[0-9]+)? (?:[eE][-+]?[0-9]+)?) (?![\w.+-])
      | (true|false|null) (?!\w)
    )
    """,
    re.VERBOSE,
)
_TEXT, _SIGN, _NUMBER, _WORD = 1, 2, 3, 4
_BLANK = re.compile(r"[ \t\n\r]*")
_WORDS: dict[str, ScalarValue] = {"true": True, "false": False, "null": None}
_MAX_INT_LENGTH = len(str(MAX_INT)) + 1
_INFINITY = float("inf")


def read_json(source: SourceText, report: Report) -> Node | None:
    """Parse one JSON value; None when nothing usable could be read, which is then reported."""
    if not check_size(source, report):
        return None
    try:
        return _Reader(source, report).run()
    except ReadingStopped:
        return None


class _Frame:
    """An object or array that is still open; an array has no entries."""

    __slots__ = ("entries", "items", "key", "start")

    def __init__(self, start: int, entries: dict[str, Entry] | None) -> None:
        self.start = start
        self.entries = entries
        self.items: list[Node] = []
        self.key: Scalar | None = None


class _Reader:
    """Processes tokens; `_wants` holds what may come next."""

    def __init__(self, source: SourceText, report: Report) -> None:
        self._source = source
        self._report = report
        self._stack: list[_Frame] = []
        self._root: Node | None = None
        self._wants = "value"
        self._may_close = False
        self._count = 0
        self._comma = 0

    def run(self) -> Node:
        """Process the whole text."""
        text = self._source.text
        take = {_TEXT: self._text, _SIGN: self._sign, _NUMBER: self._number, _WORD: self._word}
        match = _TOKEN.match
        at = 1 if text.startswith(BOM) else 0
        found = match(text, at)
        while found is not None:
            at = found.end()
            group = found.lastindex or 0
            start = found.start(group)
            take[group](found[group], start, at)
            found = match(text, at)
        at = _BLANK.match(text, at).end()  # pyright: ignore[reportOptionalMemberAccess] (it matches nothing as well)
        if at < len(text):
            self._stop_at(at)
        if self._root is None or self._stack:
            self._refuse_unfinished()
        return self._root

    def _text(self, raw: str, start: int, end: int) -> None:
        span = Span(self._source, start - 1, end)
        value = str(json.loads(f'"{raw}"')) if "\\" in raw else raw
        if not value.isascii() and SURROGATE.search(value):
            message = "the text contains half of a character (a lone surrogate)"
            self._report.error("json-syntax", message, span, "write the whole character, or both halves of its pair")
            value = SURROGATE.sub("\ufffd", value)
        node = Scalar(value, span, "json")
        if self._wants == "key":
            self._key(node)
        else:
            self._value(node)

    def _number(self, raw: str, start: int, end: int) -> None:
        span = Span(self._source, start, end)
        self._value(Scalar(_number(raw, span, self._report), span, "json"))

    def _word(self, raw: str, start: int, end: int) -> None:
        self._value(Scalar(_WORDS[raw], Span(self._source, start, end), "json"))

    def _sign(self, sign: str, start: int, end: int) -> None:
        match sign:
            case "{" | "[":
                self._open(sign, start)
            case "}" | "]":
                self._close(sign, start, end)
            case ":" if self._wants == ":":
                self._wants = "value"
            case "," if self._wants == ",":
                self._comma = start
                self._wants = "key" if self._stack[-1].entries is not None else "value"
            case _:
                self._stop_at(start)

    def _open(self, sign: str, start: int) -> None:
        if self._wants != "value":
            self._stop_at(start)
        if len(self._stack) >= MAX_DEPTH:
            raise report_too_deep(self._source, start, self._report)
        self._stack.append(_Frame(start, {} if sign == "{" else None))
        self._wants = "key" if sign == "{" else "value"
        self._may_close = True

    def _close(self, sign: str, start: int, end: int) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is None or (sign == "}") != (frame.entries is not None):
            self._stop_at(start)
        if self._wants != "," and not self._may_close:
            if self._wants == ("key" if sign == "}" else "value") and frame.key is None:
                trailing_comma(self._source, self._comma, sign, self._report)
            else:
                self._stop_at(start)
        self._stack.pop()
        span = Span(self._source, frame.start, end)
        node = Sequence(tuple(frame.items), span) if frame.entries is None else Mapping(frame.entries, span)
        self._wants = "value"
        self._value(node)

    def _key(self, key: Scalar) -> None:
        self._count_node(key)
        self._stack[-1].key = key
        self._wants = ":"
        self._may_close = False

    def _value(self, node: Node) -> None:
        if self._wants != "value":
            self._stop_at(node.span.start)
        self._count_node(node)
        self._may_close = False
        self._wants = "," if self._stack else "nothing"
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        if frame.entries is None:
            frame.items.append(node)
        elif frame.key is not None:
            self._entry(frame.entries, frame.key, node)
            frame.key = None

    def _entry(self, entries: dict[str, Entry], key: Scalar, node: Node) -> None:
        name = str(key.value)
        if name in entries:
            duplicate_key(name, entries[name].key.span, key.span, self._report)
        else:
            entries[name] = Entry(key, node)

    def _count_node(self, node: Node) -> None:
        self._count += 1
        if self._report.dropped:
            # Each further finding would copy its line again, which is expensive in a file of a single line.
            raise ReadingStopped
        if self._count > MAX_NODES:
            raise report_too_many(self._source, node.span.start, self._report)

    def _stop_at(self, at: int) -> NoReturn:
        found = explain(self._source, at, self._wants, self._stack[-1].entries is not None if self._stack else None)
        self._report.error("json-syntax", found.message, found.at, found.hint)
        raise ReadingStopped

    def _refuse_unfinished(self) -> NoReturn:
        opened = self._stack[-1].start if self._stack else None
        found = explain_missing(self._source, opened)
        self._report.error("json-syntax", found.message, found.at, found.hint)
        raise ReadingStopped


def _number(raw: str, span: Span, report: Report) -> int | float:
    if "." in raw or "e" in raw or "E" in raw:
        real = float(raw)
        if abs(real) != _INFINITY:
            return real
    elif len(raw) <= _MAX_INT_LENGTH and -MAX_INT <= (whole := int(raw)) <= MAX_INT:
        return whole
    inexact_number(raw, span, report)
    return 0

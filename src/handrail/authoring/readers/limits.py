"""What both readers share: the limits on a file, and the format of its texts in messages."""

import re

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, Span

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_INT = 2**53 - 1
"""The largest integer that every JSON parser reads exactly, and therefore the largest that can be hashed."""
MAX_SHOWN_LENGTH = 60
BOM = "\ufeff"


SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which no file can contain, so it is removed from every value."""


@frozen
class SyntaxProblem:
    """The explanation of a syntax error; without a code it gets the reader's own."""

    message: str
    at: Span
    hint: str | None = None
    code: str | None = None


class ReadingStopped(Exception):
    """Reading cannot continue; the problem has been reported."""


def check_size(source: SourceText, report: Report) -> bool:
    """Whether the file is small enough to be read; one that is not is reported."""
    text = source.text
    if len(text) <= MAX_BYTES // 4 or (len(text) <= MAX_BYTES and _bytes(text) <= MAX_BYTES):
        return True
    hint = "move long texts to separate files, such as prompts/NAME.md"
    report.error("file-too-large", "the file is larger than 1 MiB", Span(source, 0, 0), hint)
    return False


def shorten(text: str) -> str:
    """Format a text for a message: on one line, printable, not too long."""
    clean = "".join(char if char.isprintable() else _escape(char) for char in text[: MAX_SHOWN_LENGTH + 1])
    return clean if len(clean) <= MAX_SHOWN_LENGTH else clean[: MAX_SHOWN_LENGTH - 1] + "…"


def quote(text: str) -> str:
    """Quote a text with the quotes that need the least escaping."""
    if '"' not in text and "\\" not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"


def report_too_deep(source: SourceText, at: int, report: Report) -> ReadingStopped:
    """Report a collection that is nested too deeply."""
    hint = "flatten the file; no part of the format is nested that deeply"
    report.error("too-deep", f"the file is nested deeper than {MAX_DEPTH} levels", Span(source, at, at + 1), hint)
    return ReadingStopped()


def report_too_many(source: SourceText, at: int, report: Report) -> ReadingStopped:
    """Report that a file contains too many values."""
    report.error("too-many-nodes", f"the file contains more than {MAX_NODES:,} values", Span(source, at, at + 1))
    return ReadingStopped()


def duplicate_key(name: str, first: Span, again: Span, report: Report) -> None:
    """Report a duplicate key, with both places."""
    line = first.source.position(first.start).line
    message = f"duplicate key '{shorten(name)}', first at line {line}"
    report.error("duplicate-key", message, again, "remove one of them, or rename it")


def inexact_number(text: str, at: Span, report: Report) -> None:
    """Report a number that would lose precision."""
    hint = f'write "{shorten(text)}" in quotes to keep it as text'
    report.error("bad-value", f"the number {shorten(text)} is too large to be stored exactly", at, hint)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")

"""What a check reports about a place in a file, and the collector that every check reports to."""

from collections.abc import Iterator
from enum import StrEnum

from handrail.frozen import frozen
from handrail.model.source import Entry, Node, Span

MAX_DIAGNOSTICS = 200
"""The most diagnostics stored for one file; others are only counted, so that hostile input cannot flood memory."""


class Severity(StrEnum):
    """How severe it is: an error refuses the workflow, a warning does not, advice is about style and rigour."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


@frozen
class Diagnostic:
    """One finding, at a line and column, with a stable code and what to do."""

    severity: Severity
    code: str
    message: str
    file: str
    line: int
    column: int
    end_column: int
    """Column after the marked text on the same line."""
    text: str
    """The source line."""
    hint: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the workflow is refused because of it."""
        return self.severity is Severity.ERROR


def diagnose(severity: Severity, code: str, message: str, at: Span, hint: str | None = None) -> Diagnostic:
    """Build a diagnostic for a span."""
    start = at.source.position(at.start)
    end = at.source.position(max(at.end, at.start))
    text = at.source.line(start.line)
    stop = end.column if end.line == start.line else len(text) + 1
    stop = max(start.column + 1, min(stop, len(text) + 1))
    return Diagnostic(severity, code, message, at.source.path, start.line, start.column, stop, text, hint)


class Report:
    """Collects diagnostics, in the order they are found."""

    __slots__ = ("_seen", "diagnostics", "dropped", "failed")

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.dropped = 0
        self.failed = False
        """Whether an error was reported, stored or not."""
        self._seen: set[tuple[str, str, int, int, str]] = set()

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def error(self, code: str, message: str, at: "Span | Node | Entry", hint: str | None = None) -> None:
        """Report something that refuses the workflow."""
        self.add(diagnose(Severity.ERROR, code, message, _span(at), hint))

    def warning(self, code: str, message: str, at: "Span | Node | Entry", hint: str | None = None) -> None:
        """Report something that is probably wrong."""
        self.add(diagnose(Severity.WARNING, code, message, _span(at), hint))

    def advice(self, code: str, message: str, at: "Span | Node | Entry", hint: str | None = None) -> None:
        """Report something that could be better."""
        self.add(diagnose(Severity.ADVICE, code, message, _span(at), hint))

    def add(self, found: Diagnostic) -> None:
        """Add a diagnostic once; past the limit only errors are added, each replacing something less severe."""
        key = (found.code, found.file, found.line, found.column, found.message)
        if key in self._seen:
            return
        self.failed = self.failed or found.is_error
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            self.dropped += 1
            if not found.is_error or not self._make_room():
                return
        self._seen.add(key)
        self.diagnostics.append(found)

    def _make_room(self) -> bool:
        for index in range(len(self.diagnostics) - 1, -1, -1):
            if not self.diagnostics[index].is_error:
                del self.diagnostics[index]
                return True
        return False


def _span(at: "Span | Node | Entry") -> Span:
    if isinstance(at, Span):
        return at
    return at.key.span if isinstance(at, Entry) else at.span

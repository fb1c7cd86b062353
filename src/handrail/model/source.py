"""Positions in text: source files, spans in them, and the positioned tree that every reader builds.

Offsets count code points from 0; lines and columns count from 1. A tree is never changed in place:
a pass that rewrites it builds new nodes with the spans of what they came from.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field
from typing import Literal, NamedTuple, TypeAlias

from handrail.frozen import frozen


class Position(NamedTuple):
    """A place as people count it: line and column from 1."""

    line: int
    column: int


class SourceText:
    """The text of one file under the path that is shown to people."""

    __slots__ = ("_lines", "_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts: list[int] | None = None
        self._lines: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"SourceText({self.path!r}, {len(self.text)} characters)"

    def position(self, offset: int) -> Position:
        """Return line and column of an offset; offsets outside the text are clamped to it."""
        starts = self._line_starts()
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return the text of a line without its line break, empty past the end."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        # Cached, so that many findings on one huge line share one copy of it.
        if number not in self._lines:
            end = starts[number] if number < len(starts) else len(self.text)
            self._lines[number] = self.text[starts[number - 1] : end].rstrip("\r\n")
        return self._lines[number]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column, both from 1."""
        starts = self._line_starts()
        return starts[max(1, min(line, len(starts))) - 1] + column - 1

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts


class Span(NamedTuple):
    """A range of a source text."""

    source: SourceText
    start: int
    end: int


ScalarValue: TypeAlias = str | int | float | bool | None
Style: TypeAlias = Literal["plain", "single", "double", "literal", "folded", "json", "made"]
"""How a scalar was written; `made` means by a program, so that every offset in it maps to its start."""


@frozen
class Scalar:
    """A leaf: text, number, boolean or null."""

    value: ScalarValue
    span: Span
    style: Style = "plain"


@frozen
class Entry:
    """One key of a mapping with its value."""

    key: Scalar
    value: "Node"

    @property
    def name(self) -> str:
        """The key as text; readers refuse keys that are not."""
        return str(self.key.value)


@frozen
class Mapping:
    """Keys with values, in the order they were written; keys are unique."""

    entries: dict[str, Entry]
    span: Span

    def get(self, name: str) -> "Node | None":
        """Return the value under a key, or None."""
        entry = self.entries.get(name)
        return entry.value if entry is not None else None

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())


@frozen
class Sequence:
    """Items in order."""

    items: tuple["Node", ...]
    span: Span

    def __iter__(self) -> Iterator["Node"]:
        return iter(self.items)


Node: TypeAlias = Scalar | Mapping | Sequence


def plain(node: Node) -> object:
    """Convert the tree to plain data, without positions."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {name: plain(entry.value) for name, entry in node.entries.items()}


@frozen
class Bundle:
    """A workflow's files as texts, so that reading and compiling touch no file.

    `files` maps paths relative to the workflow's folder, with forward slashes, to texts. A path that exists but
    may not be used (it leaves the folder, it is not text, it is too large) is in `refused` with the reason.
    """

    main: str
    files: dict[str, SourceText] = field(default_factory=dict[str, SourceText])
    refused: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def source(self) -> SourceText:
        """The main file."""
        return self.files[self.main]


Form: TypeAlias = Literal["yaml", "json", "python"]
Dialect: TypeAlias = Literal["native", "workrail"]


@frozen
class Document:
    """What a reader returns and the compiler's passes rewrite: the tree, and the files it may refer to."""

    form: Form
    dialect: Dialect
    root: Mapping
    bundle: Bundle
    dynamic: bool = False
    """Whether the main file is itself the flow: Python whose `run` calls steps; then there are no steps here."""
    origin: str = ""
    """Who owns it, which decides what the names inside it mean: `user`, `repository`, `built-in` or `elsewhere`."""

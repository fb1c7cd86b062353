"""The result of an import: the files of native workflows, and a note on everything that changed."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen

SourceKind: TypeAlias = Literal["workrail", "coven", "cyrus"]
Fate: TypeAlias = Literal["translated", "changed", "lost"]
"""What happened to something: it means the same, it means nearly the same, or it is gone."""


@frozen
class ImportNote:
    """One thing a person should know about a translation, with the place it came from."""

    severity: Fate
    file: str
    line: int
    message: str


@frozen
class ImportedWorkflows:
    """Native workflow folders as texts by relative path, and the notes about them."""

    kind: SourceKind
    files: dict[str, str]
    notes: tuple[ImportNote, ...]


class Notes:
    """Collects the notes of an import; the same note is stored once."""

    def __init__(self) -> None:
        self._notes: dict[ImportNote, None] = {}

    def __iter__(self):
        return iter(self._notes)

    def add_translated(self, file: str, line: int, message: str) -> None:
        """Note something that means the same in other words."""
        self._notes[ImportNote("translated", file, line, message)] = None

    def add_changed(self, file: str, line: int, message: str) -> None:
        """Note something that now behaves slightly differently."""
        self._notes[ImportNote("changed", file, line, message)] = None

    def add_lost(self, file: str, line: int, message: str) -> None:
        """Note something that was not carried over."""
        self._notes[ImportNote("lost", file, line, message)] = None

    def list_notes(self) -> tuple[ImportNote, ...]:
        """Return all notes, sorted by file and line."""
        return tuple(sorted(self._notes, key=lambda note: (note.file, note.line)))

"""Reads the pages for people: their code blocks, their tables, and the notes in comments before them.

A note is a comment such as `<!-- example: step -->`. Notes that stand right before a block or a table belong to it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from support.places import ROOT

FENCE = re.compile(r"```(\w*)\s*")
NOTE = re.compile(r"<!--\s*(\w+):\s*(.*?)\s*-->")
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block with the notes before it."""

    page: str
    line: int
    language: str
    text: str
    notes: dict[str, str]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the notes before it; cells as they are written."""

    page: str
    line: int
    rows: tuple[tuple[str, ...], ...]
    notes: dict[str, str]

    @property
    def firsts(self) -> list[str]:
        """The code in the first column, one for each row."""
        return [code for row in self.rows for code in CODE.findall(row[0])]


def pages() -> list[str]:
    """All pages that hold code for people."""
    top = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "CHANGELOG.md")
    found = [name for name in top if (ROOT / name).is_file()]
    return [*found, *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]


def group(index: str) -> list[str]:
    """Give an index page and the pages of the folder that has its name."""
    folder = ROOT / index.removesuffix(".md")
    return [index, *sorted(path.relative_to(ROOT).as_posix() for path in folder.glob("*.md"))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """Give a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


def anchor_of(title: str) -> str:
    """Give the anchor that a heading has in a link."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def anchor_before(page: str, line: int) -> str:
    """Give the anchor of the last heading before a line that is outside of code blocks."""
    lines = text_of(page).splitlines()[: line - 1]
    fenced = False
    found = ""
    for each in lines:
        fenced ^= each.startswith("```")
        if not fenced and (title := re.fullmatch(r"#+ (.+)", each)):
            found = anchor_of(title[1])
    return found


def blocks(page: str) -> list[Block]:
    return [found for found in _parts(page) if isinstance(found, Block)]


def tables(page: str) -> list[Table]:
    return [found for found in _parts(page) if isinstance(found, Table)]


def _parts(page: str) -> Iterator[Block | Table]:
    lines = text_of(page).splitlines()
    notes: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        if fence := FENCE.fullmatch(line):
            at = lines.index("```", at + 1)
            yield Block(page, start + 1, fence[1], "\n".join(lines[start + 1 : at]) + "\n", notes)
        elif line.startswith("|"):
            while at + 1 < len(lines) and lines[at + 1].startswith("|"):
                at += 1
            yield Table(page, start + 1, tuple(_cells(row) for row in lines[start + 2 : at + 1]), notes)
        if note := NOTE.fullmatch(line):
            notes = {**notes, note[1]: note[2]}
        elif line.strip():
            notes = {}
        at += 1


def _cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])

"""Splits prompts into sentences, as precisely as the lints need."""

import re

from handrail.frozen import frozen

BREAK = re.compile(r"(?<=[.!?])[\"')*`]*\s+|\n\s*\n|\n(?=\s*(?:[-*#]|\d+[.)])\s)")


@frozen
class Sentence:
    """A sentence, or an item of a list, and where it begins."""

    text: str
    start: int


def sentences(text: str) -> tuple[Sentence, ...]:
    """Split a text at full stops, blank lines and list items."""
    found: list[Sentence] = []
    start = 0
    for gap in BREAK.finditer(text):
        _add(text, start, gap.start(), found)
        start = gap.end()
    _add(text, start, len(text), found)
    return tuple(found)


def _add(text: str, start: int, end: int, found: list[Sentence]) -> None:
    raw = text[start:end]
    stripped = raw.strip()
    if stripped:
        found.append(Sentence(stripped, start + len(raw) - len(raw.lstrip())))

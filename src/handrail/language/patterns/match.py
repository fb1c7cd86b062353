"""Regular expressions that are matched in linear time: all ways through the pattern are walked at once.

1. Whether a pattern is found is all that is asked, so which of several ways matched does not matter.
2. The work for each character is bounded by the size of the pattern, and the whole of it by a number of steps.
3. What cannot be matched that way (look-arounds, back references) is refused by name.

Single characters, classes and escapes are tried by `re` itself, so that they mean what they mean everywhere.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.frozen import frozen

MOST_VISITS = 100_000
"""Nodes that a search walks through, a tenth of a second of work; what people write stays far below it."""
WORD = re.compile(r"\w")


class BadPattern(ValueError):
    """A pattern that is not valid, or that cannot be matched in bounded time."""


@frozen
class Place:
    """Where a text is looked at: between two characters; empty at its ends."""

    before: str
    """Not the character itself: one of its kind."""
    after: str
    last: bool
    """Whether at most one character follows."""


@dataclass(slots=True)
class Node:
    """One place in a pattern: it takes a character, asks for a place, or just leads on."""

    takes: Callable[[str], object] | None = None
    asks: Callable[[Place], bool] | None = None
    leads: list[int] = field(default_factory=list[int])


@frozen
class Walked:
    """Whether a pattern was found, and through how many of its nodes that led."""

    found: bool
    visits: int


@frozen
class Pattern:
    """A pattern that can be looked for."""

    _nodes: list[Node]
    _start: int
    _end: int
    _anchored: bool

    @property
    def size(self) -> int:
        """The number of its nodes: the most that one character of a text can cost."""
        return len(self._nodes)

    def found_in(self, text: str) -> bool:
        """Tell whether the pattern is found anywhere in a text."""
        return self.walked(text).found

    def walked(self, text: str) -> Walked:
        """Look for the pattern, and count; what costs too much is given up, and not found."""
        known: dict[tuple[frozenset[int], Place], frozenset[int] | None] = {}
        here, before, visits = frozenset({self._start}), "", 0
        for number, char in enumerate((*text, "")):
            # Where a pattern asks for no place, all places are the same to it.
            place = (
                Place(_kind(before), char, number >= len(text) - 1) if self._anchored else Place("", char, last=False)
            )
            key = (here, place)
            if key not in known:
                known[key], cost = self._step(here, place)
                visits += cost
            then = known[key]
            if then is None or visits > MOST_VISITS:
                return Walked(then is None, visits)
            before, here = char, then
        return Walked(found=False, visits=visits)

    def _step(self, here: frozenset[int], place: Place) -> tuple[frozenset[int] | None, int]:
        """Take one character in all ways; None when the pattern is complete before it. Counts what it looks at."""
        waiting, seen = list(here), set(here)
        after = {self._start}
        while waiting:
            at = waiting.pop()
            if at == self._end:
                return None, len(seen)
            node = self._nodes[at]
            if node.takes is not None:
                if place.after and node.takes(place.after):
                    after.update(node.leads)
            elif node.asks is None or node.asks(place):
                fresh = [each for each in node.leads if each not in seen]
                seen.update(fresh)
                waiting.extend(fresh)
        return frozenset(after), len(seen)


def _kind(char: str) -> str:
    """All that is ever asked of the character before a place: a line's end, a character of a word, or another."""
    return char if char in ("", "\n") else "a" if WORD.match(char) else " "

"""Matches regular expressions in linear time, by following all paths through the pattern at once.

1. Only whether a pattern is found is asked, so it does not matter which of several paths matched.
2. The work for each character is bounded by the size of the pattern, and the total work by a number of steps.
3. What cannot be matched that way (look-arounds, back references) is refused by name.

Single characters, classes and escapes are matched by `re` itself, so that they mean what they mean everywhere.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.frozen import frozen

MAX_VISITS = 100_000
"""The most nodes that a search visits, a tenth of a second of work; what people write stays far below it."""
WORD = re.compile(r"\w")


class BadPattern(ValueError):
    """A pattern that is not valid, or that cannot be matched in bounded time."""


@frozen
class TextBoundary:
    """A position in a text, between two characters; empty at its ends."""

    before: str
    """Not the character itself: one of its kind."""
    after: str
    last: bool
    """Whether at most one character follows."""


@dataclass(slots=True)
class Node:
    """One node of a pattern: it consumes a character, tests a position, or just leads on."""

    takes: Callable[[str], object] | None = None
    asks: Callable[[TextBoundary], bool] | None = None
    leads: list[int] = field(default_factory=list[int])


@frozen
class MatchResult:
    """Whether a pattern was found, and how many of its nodes were visited."""

    found: bool
    visits: int


@frozen
class Pattern:
    """A pattern that can be searched for."""

    _nodes: list[Node]
    _start: int
    _end: int
    _anchored: bool

    @property
    def size(self) -> int:
        """The number of its nodes: the most that one character of a text can cost."""
        return len(self._nodes)

    def has_match(self, text: str) -> bool:
        """Whether the pattern is found anywhere in a text."""
        return self.walk(text).found

    def walk(self, text: str) -> MatchResult:
        """Search for the pattern and count the visits; a search that costs too much is given up as not found."""
        known: dict[tuple[frozenset[int], TextBoundary], frozenset[int] | None] = {}
        here, before, visits = frozenset({self._start}), "", 0
        for number, char in enumerate((*text, "")):
            # If a pattern tests no position, all positions are the same to it.
            place = (
                TextBoundary(_kind(before), char, number >= len(text) - 1)
                if self._anchored
                else TextBoundary("", char, last=False)
            )
            key = (here, place)
            if key not in known:
                known[key], cost = self._step(here, place)
                visits += cost
            then = known[key]
            if then is None or visits > MAX_VISITS:
                return MatchResult(then is None, visits)
            before, here = char, then
        return MatchResult(found=False, visits=visits)

    def _step(self, here: frozenset[int], place: TextBoundary) -> tuple[frozenset[int] | None, int]:
        """Consume one character on all paths and count the visits; None if the pattern is complete before it."""
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
    """Reduce the character before a position to what is ever tested: a line's end, a word character, or another."""
    return char if char in ("", "\n") else "a" if WORD.match(char) else " "

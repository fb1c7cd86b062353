"""Parses regular expressions into patterns; single characters, classes and escapes mean what `re` says."""

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from handrail.language.patterns.match import WORD, BadPattern, Node, Pattern, TextBoundary

MAX_PATTERN_LENGTH = 200
MAX_NODES = 2000
"""The most nodes of a pattern; counted repeats are written out."""
MAX_SUBJECT_LENGTH = 10_000
"""The most characters of a text that are searched."""
_PIECES = re.compile(
    r"\\x..|\\u.{4}|\\U.{8}|\\N\{[^}]*\}|\\0[0-7]{0,2}|\\[1-9][0-9]*|\\."
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\(\?P<\w+>|\(\?(?:[:=!>#]|<[=!]|P=|[aimsux]+\)|[aimsux-]*:|\()|\("
    r"|\{[0-9]+\}|\{[0-9]*,[0-9]*\}|.",
    re.DOTALL,
)
_OPENS = re.compile(r"\(|\(\?:|\(\?P<\w+>")
_FLAGS = re.compile(r"\(\?([aimsux]+)\)")
_COUNTED = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_OPTIONS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_ANCHORS = frozenset({"^", "$", r"\A", r"\Z", r"\b", r"\B"})


@lru_cache(maxsize=512)
def pattern_of(text: str, flags: str = "") -> Pattern:
    """Parse a pattern; raises `BadPattern` with what is wrong with it."""
    if len(text) > MAX_PATTERN_LENGTH:
        raise BadPattern(f"the pattern has {len(text)} characters, the maximum is {MAX_PATTERN_LENGTH}")
    options = re.RegexFlag(0)
    for flag in flags:
        options |= _OPTIONS.get(flag, re.RegexFlag(0))
    _compile(text, options)
    return _Reader(_PIECES.findall(text), options).read_rest()


def _compile(text: str, options: re.RegexFlag) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text, options)
    except (re.error, OverflowError, RecursionError) as problem:
        raise BadPattern(f"the pattern is not a valid regular expression: {problem}") from None


class _Reader:
    """Parses a pattern that `re` has found to be valid; a part is identified by its first and its last node."""

    def __init__(self, pieces: list[str], options: re.RegexFlag) -> None:
        self.pieces = pieces
        self.options = options
        self.at = 0
        self.nodes: list[Node] = []

    def read_rest(self) -> Pattern:
        start, end = self._either()
        return Pattern(self.nodes, start, end, any(node.asks is not None for node in self.nodes))

    def _node(self, *leads: int) -> int:
        if len(self.nodes) >= MAX_NODES:
            raise BadPattern("the pattern has too many repeats: expanded, it is too long to be matched")
        self.nodes.append(Node(leads=list(leads)))
        return len(self.nodes) - 1

    def _next(self) -> str:
        return self.pieces[self.at] if self.at < len(self.pieces) else ""

    def _either(self) -> tuple[int, int]:
        start, end = self._node(), self._node()
        while True:
            first, last = self._row()
            self.nodes[start].leads.append(first)
            self.nodes[last].leads.append(end)
            if self._next() != "|":
                return start, end
            self.at += 1

    def _row(self) -> tuple[int, int]:
        start = end = self._node()
        while self._next() not in ("", "|", ")"):
            first, last = self._read_repeat()
            self.nodes[end].leads.append(first)
            end = last
        return start, end

    def _read_repeat(self) -> tuple[int, int]:
        begins = self.at
        part = self._read_atom()
        bounds = _bounds(self._next())
        if bounds is None:
            return part
        self.at += 1
        if self._next() == "+":
            raise _pattern_error("a possessive repeat")
        self.at += self._next() == "?"
        after, part = self.at, self._copies(part, bounds, begins)
        self.at = after
        return part

    def _copies(self, part: tuple[int, int], bounds: tuple[int, int | None], begins: int) -> tuple[int, int]:
        """Write a part out as often as it may occur; those beyond the minimum are optional."""
        least, most = bounds
        start, end = self._node(), self._node()
        here = start
        for number in range(max(least, 1) if most is None else most):
            if number:
                self.at = begins
                part = self._read_atom()
            if number >= least:
                self.nodes[here].leads.append(end)
            self.nodes[here].leads.append(part[0])
            here = part[1]
        if most is None:
            self.nodes[here].leads.append(part[0])
        self.nodes[here].leads.append(end)
        return start, end

    def _read_atom(self) -> tuple[int, int]:
        piece = self._next()
        self.at += 1
        flags = _FLAGS.fullmatch(piece)
        if flags is not None:
            return self._apply_flags(flags[1])
        if _OPENS.fullmatch(piece):
            inner = self._either()
            self.at += 1
            return inner
        if piece.startswith("(?"):
            raise _pattern_error(_NAMES.get(piece[:3], "flags for a part of it"))
        if re.fullmatch(r"\\[1-9][0-9]*", piece):
            raise _pattern_error("a back reference")
        at = self._node()
        if piece in _ANCHORS:
            self.nodes[at].asks = _anchor(piece, multiline=bool(self.options & re.MULTILINE))
        else:
            self.nodes[at].takes = _compile(piece, self.options).fullmatch
        end = self._node()
        self.nodes[at].leads.append(end)
        return at, end

    def _apply_flags(self, letters: str) -> tuple[int, int]:
        """Apply flags at the beginning to the whole pattern."""
        for letter in letters:
            if letter not in _OPTIONS:
                raise _pattern_error(f"the flag '{letter}'")
            self.options |= _OPTIONS[letter]
        at = self._node()
        return at, at


_NAMES = {
    "(?=": "a look-ahead",
    "(?!": "a look-ahead",
    "(?<": "a look-behind",
    "(?>": "an atomic group",
    "(?P": "a back reference",
    "(?(": "a condition",
    "(?#": "a comment",
}


def _pattern_error(what: str) -> BadPattern:
    return BadPattern(f"the pattern uses {what}, which cannot be matched in bounded time")


def _bounds(piece: str) -> tuple[int, int | None] | None:
    """Return how often a part may occur; None if a piece is not a repeat."""
    simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if piece in simple:
        return simple[piece]
    counted = _COUNTED.fullmatch(piece) if len(piece) > 1 else None
    if counted is None:
        return None
    least = int(counted[1] or 0)
    return least, least if not counted[2] else int(counted[3]) if counted[3] else None


def _anchor(piece: str, *, multiline: bool) -> Callable[[TextBoundary], bool]:
    if piece == "^" and multiline:
        return lambda place: place.before in ("", "\n")
    if piece == "$" and multiline:
        return lambda place: place.after in ("", "\n")
    return _ASKS[piece]


def _is_at_border(place: TextBoundary) -> bool:
    return bool(WORD.match(place.before)) != bool(WORD.match(place.after))


_ASKS: dict[str, Callable[[TextBoundary], bool]] = {
    "^": lambda place: not place.before,
    r"\A": lambda place: not place.before,
    "$": lambda place: not place.after or (place.after == "\n" and place.last),
    r"\Z": lambda place: not place.after,
    r"\b": _is_at_border,
    r"\B": lambda place: not _is_at_border(place),
}


def has_match(pattern: str, text: str, flags: str = "") -> bool:
    """Search for a pattern in a text, within bounds; an unusable one is never found."""
    try:
        return pattern_of(pattern, flags).has_match(text[:MAX_SUBJECT_LENGTH])
    except BadPattern:
        return False

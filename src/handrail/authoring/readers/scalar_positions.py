"""The characters of a scalar's value with their positions in the file, for each style of scalar.

Each function reads the raw text of a scalar again, as the parser did, and returns its `CharacterPositions`. The caller
compares the traced text with the value: where both agree the positions are right, and where they do not there is no
exact map.
"""

import re


class CharacterPositions:
    """A value while it is read: its text, and the start and end of each character in the file."""

    __slots__ = ("ends", "parts", "starts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    @property
    def text(self) -> str:
        """The text that has been read."""
        return "".join(self.parts)

    def run(self, text: str, start: int) -> None:
        """Add a run of characters that is written in the file exactly as in the value."""
        self.parts.append(text)
        self.starts.extend(range(start, start + len(text)))
        self.ends.extend(range(start + 1, start + len(text) + 1))

    def char(self, char: str, start: int, end: int) -> None:
        """Add one character that is written as several, such as an escape."""
        self.parts.append(char)
        self.starts.append(start)
        self.ends.append(end)


_BREAK = "(?:\r\n|[\r\n\x85\u2028\u2029])"
_ONE_BREAK = re.compile(_BREAK)
_FOLD = f"(?P<fold>[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*)"
_RUN = "(?P<run>[^'\\\\ \t\r\n\x85\u2028\u2029]+|[ \t]+)"
_ESCAPE = r"(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^\r\n\x85\u2028\u2029]))"
_GO_ON = rf"(?P<join>\\{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*)"

PLAIN = re.compile(f"{_FOLD}|{_RUN}|(?P<other>.)")
SINGLE = re.compile(f"{_FOLD}|{_RUN}|(?P<twin>'')|(?P<other>.)")
DOUBLE = re.compile(f"{_FOLD}|{_RUN}|{_GO_ON}|{_ESCAPE}|(?P<other>.)")
JSON = re.compile(r"(?P<run>[^\\]+)|(?P<pair>\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|(?P<escape>\\(?:u....|.))")

_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def trace_flow(pattern: re.Pattern[str], text: str, start: int, end: int) -> CharacterPositions:
    """Trace a plain or quoted scalar between two offsets, without its quotes."""
    trace = CharacterPositions()
    for found in pattern.finditer(text, start, end):
        at, to = found.span()
        match found.lastgroup:
            case "fold":
                _fold(trace, text, at, to)
            case "join":
                _keep_breaks(trace, [each.span() for each in _ONE_BREAK.finditer(text, at, to)][1:], text)
            case "twin":
                trace.char("'", at, to)
            case "escape":
                trace.char(_unescape(found[0]), at, to)
            case "pair":
                trace.char(_join_surrogates(found[0]), at, to)
            case _:
                trace.run(found[0], at)
    return trace


def trace_block(text: str, start: int, end: int, value: str) -> CharacterPositions:
    """Trace a literal or folded block scalar, including its header; trailing line breaks are not chomped."""
    lines = _lines(text, start, end)[1:]
    indent = _indent(text, lines, value)
    trace = CharacterPositions()
    folds = text[start] == ">"
    pending: list[tuple[int, int]] = []
    was_indented = True
    for at, to, after in lines:
        content = at + indent
        if content >= to:
            pending.append((to, after))
            continue
        is_indented = text[content] in " \t"
        _join(trace, pending, text, folds=folds and not was_indented and not is_indented)
        trace.run(text[content:to], content)
        pending = [(to, after)]
        was_indented = is_indented
    _keep_breaks(trace, pending, text)
    return trace


def _join(trace: CharacterPositions, breaks: list[tuple[int, int]], text: str, *, folds: bool) -> None:
    if not folds or not breaks or text[breaks[0][0]] in "\u2028\u2029":
        _keep_breaks(trace, breaks, text)
    elif len(breaks) == 1:
        trace.char(" ", *breaks[0])
    else:
        _keep_breaks(trace, breaks[1:], text)


def _fold(trace: CharacterPositions, text: str, start: int, end: int) -> None:
    _join(trace, [found.span() for found in _ONE_BREAK.finditer(text, start, end)], text, folds=True)


def _keep_breaks(trace: CharacterPositions, breaks: list[tuple[int, int]], text: str) -> None:
    for at, to in breaks:
        if to > at:
            trace.char(text[at] if text[at] in "\u2028\u2029" else "\n", at, to)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    lines: list[tuple[int, int, int]] = []
    at = start
    for found in _ONE_BREAK.finditer(text, start, end):
        lines.append((at, found.start(), found.end()))
        at = found.end()
    lines.append((at, end, end))
    return lines


def _indent(text: str, lines: list[tuple[int, int, int]], value: str) -> int:
    # The header may give the indentation relative to a parent that is unknown here, so it is derived from
    # the first line with content: the leading spaces that the value does not have are indentation.
    first = next((line for line in value.splitlines() if line.strip(" ")), "")
    for at, to, _ in lines:
        written = text[at:to]
        bare = written.lstrip(" ")
        if bare:
            return max(0, len(written) - len(bare) - (len(first) - len(first.lstrip(" "))))
    return 0


def _unescape(written: str) -> str:
    sign = written[1]
    if sign in "xuU" and len(written) > 2:
        number = int(written[2:], 16)
        return chr(number) if number <= 0x10FFFF else ""
    return _ESCAPES.get(sign, sign)


def _join_surrogates(written: str) -> str:
    high, low = int(written[2:6], 16), int(written[8:12], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

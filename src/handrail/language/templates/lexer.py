"""Splits a template into pieces: text, outputs and tags, with the white space of tag lines already removed.

A line that contains nothing but tags and comments disappears with its line break; `-` at either end of a tag or
output removes all white space on that side. Everything else stays as written.
"""

import re
from dataclasses import replace
from typing import Literal, NoReturn

from handrail.frozen import frozen
from handrail.language.problems import LanguageError, Problem

MAX_LENGTH = 1 << 20
"""The most characters of one template."""

_OPENING = re.compile(r"\{\{-?|\{%-?|\{#-?")
_CLOSERS = {"{{": "}}", "{%": "%}", "{#": "#}"}
_END_RAW = re.compile(r"\{%-?\s*endraw\s*-?%\}")
_MARK = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]""", re.DOTALL)
MAX_OFFSET = 20_000
"""How far an end is searched for, so that many openings without an end stay cheap."""


@frozen
class Piece:
    """A range of a template; `text` of an output or tag is what is between its marks, at `start`."""

    kind: Literal["text", "output", "tag", "comment"]
    text: str
    start: int
    end: int
    strip_before: bool = False
    strip_after: bool = False


def refuse(message: str, start: int, end: int, hint: str | None = None) -> NoReturn:
    """Refuse the template."""
    raise LanguageError(Problem("template-syntax", message, start, end, hint))


def pieces(text: str) -> list[Piece]:
    """Split a template."""
    if len(text) > MAX_LENGTH:
        refuse(f"the template has {len(text)} characters, the maximum is {MAX_LENGTH}", 0, 0)
    return _strip_whitespace(_drop_tag_lines(_split(text)))


def _split(text: str) -> list[Piece]:
    found: list[Piece] = []
    at = 0
    while match := _OPENING.search(text, at):
        found += _lines(text, at, match.start())
        piece, at = _read_marked(text, match)
        found.append(piece)
        if piece.kind == "tag" and piece.text.strip() == "raw":
            closing = _END_RAW.search(text, at)
            if closing is None:
                refuse("`{% raw %}` is never closed", match.start(), at, "add `{% endraw %}`")
            found += _lines(text, at, closing.start())
            mark = closing[0]
            strip = mark.startswith("{%-"), mark.endswith("-%}")
            found.append(Piece("tag", "endraw", closing.start(), closing.end(), *strip))
            at = closing.end()
    return found + _lines(text, at, len(text))


def _lines(text: str, start: int, end: int) -> list[Piece]:
    found: list[Piece] = []
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        found.append(Piece("text", text[start:stop], start, stop))
        start = stop
    return found


def _read_marked(text: str, match: re.Match[str]) -> tuple[Piece, int]:
    opening = match[0][:2]
    closer = _CLOSERS[opening]
    start = match.end()
    if opening == "{#":
        close = text.find(closer, start)
    else:
        close = find_close(text, start, closer) if opening == "{{" else _close_tag(text, start)
    if close < 0:
        refuse(f"`{opening}` is never closed", match.start(), start, _never_closed(opening, closer))
    inner = text[start:close]
    after = inner.endswith("-") and not inner.endswith("--") and len(inner) > 0
    kind = {"{{": "output", "{%": "tag", "{#": "comment"}[opening]
    inner = inner[:-1] if after else inner
    piece = Piece("text", inner, start, close + 2, match[0].endswith("-"), after)
    return replace(piece, kind=kind), close + 2


def _close_tag(text: str, start: int) -> int:
    # `%}` never occurs inside an expression except in quotes, which are skipped first.
    quoted = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|%\}""")
    for match in quoted.finditer(text, start):
        if match[0] == "%}":
            return match.start()
    return text.find("%}", start)


def _never_closed(opening: str, closer: str) -> str:
    wrapped = "{% raw %}" + opening + "{% endraw %}"
    return f"add `{closer}`, or write `{wrapped}` if you mean the literal text"


def _drop_tag_lines(found: list[Piece]) -> list[Piece]:
    kept: list[Piece] = []
    line: list[Piece] = []
    for piece in found:
        line.append(piece)
        if piece.kind == "text" and piece.text.endswith("\n"):
            kept += _trim_tag_line(line)
            line = []
    return kept + _trim_tag_line(line)


def _trim_tag_line(line: list[Piece]) -> list[Piece]:
    tags = [piece for piece in line if piece.kind in ("tag", "comment")]
    blank = all(piece.kind != "output" and (piece.kind != "text" or not piece.text.strip()) for piece in line)
    return tags if tags and blank else line


def _strip_whitespace(found: list[Piece]) -> list[Piece]:
    result: list[Piece] = []
    strip = False
    for piece in found:
        current = piece
        if piece.kind == "text":
            if strip:
                current = replace(piece, text=piece.text.lstrip())
            strip = strip and not current.text
        else:
            if piece.strip_before:
                _strip_end(result)
            strip = piece.strip_after
        result.append(current)
    return [piece for piece in result if piece.kind != "text" or piece.text]


def _strip_end(result: list[Piece]) -> None:
    index = len(result) - 1
    while index >= 0 and result[index].kind == "text":
        result[index] = replace(result[index], text=result[index].text.rstrip())
        if result[index].text:
            break
        index -= 1


def find_close(text: str, start: int, closer: str) -> int:
    """Return the offset of the closer of what begins before `start`, or -1; unclosed quotes are ignored."""
    depth = 0
    end = min(len(text), start + MAX_OFFSET)
    for match in _MARK.finditer(text, start, end):
        mark = match[0]
        if depth == 0 and text.startswith(closer, match.start()):
            return match.start()
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth < 0:
                break
    return text.find(closer, start, end)

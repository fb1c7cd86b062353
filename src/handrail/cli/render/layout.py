"""Fits text into the columns of a terminal: parts that flow over several lines, prose, tables, and shortened paths."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from handrail.cli.render.safe_text import escape_controls, pad, width

ELLIPSIS = "…"
MIN_WIDTH = 20
"""The columns below which text is no longer fitted."""


def flow(parts: Iterable[str], most: int, *, between: str = "  ", indent: str = "  ") -> list[str]:
    """Put safe parts side by side, and start a new line when the next one does not fit."""
    lines: list[str] = []
    for part in parts:
        if lines and width(lines[-1]) + width(between) + width(part) <= max(most, MIN_WIDTH):
            lines[-1] += between + part
        elif lines:
            lines += wrap_text(part.lstrip(), most, first=indent, later=f"{indent}  ")
        else:
            lines.append(part)
    return lines


def wrap_text(text: str, most: int, *, first: str = "", later: str = "") -> list[str]:
    """Wrap safe prose at its spaces; a word that is longer than a line is broken too."""
    most = max(most, MIN_WIDTH)
    lines, used = [first], width(first)
    for word in _pieces(text, most - max(width(first), width(later))):
        columns = width(word)
        if used > width(first if len(lines) == 1 else later):
            if used + 1 + columns <= most:
                lines[-1] += " "
                used += 1
            else:
                lines.append(later)
                used = width(later)
        lines[-1] += word
        used += columns
    return lines


def _pieces(text: str, most: int) -> Iterator[str]:
    for word in text.split(" "):
        piece, used = "", 0
        for character in word:
            used += width(character)
            if used > most:
                yield piece
                piece, used = "", width(character)
            piece += character
        if piece:
            yield piece


def short_path(path: str, most: int | None = None) -> str:
    """Shorten a path: the home folder becomes `~`, and if there is not enough room, its middle is left out."""
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 (a home that is not known is left as it is)
    shown = f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path
    if most is None or width(shown) <= most:
        return shown
    head, _, last = shown.rpartition("/")
    room = most - width(last) - 3
    kept = head[: max(room, 0)]
    return f"{kept.rpartition('/')[0] if '/' in kept else kept}/{ELLIPSIS}/{last}"


def render_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Render rows with aligned cells; the columns in `right` are right-aligned."""
    safe = [[escape_controls(cell) for cell in row] for row in rows]
    widths = [max(width(row[at]) for row in safe) for at in range(len(safe[0]))]
    return "\n".join(
        "  ".join(_cell(cell, widths[at], flush=at in right) for at, cell in enumerate(row)).rstrip() for row in safe
    )


def _cell(text: str, columns: int, *, flush: bool) -> str:
    return " " * (columns - width(text)) + text if flush else pad(text, columns)

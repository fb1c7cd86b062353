"""Columns of text, safe and aligned."""

from collections.abc import Collection, Sequence

from handrail.cli.render.safe_text import escape_controls, pad, width


def render_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Render rows with aligned cells; the columns in `right` are right-aligned."""
    safe = [[escape_controls(cell) for cell in row] for row in rows]
    widths = [max(width(row[at]) for row in safe) for at in range(len(safe[0]))]
    return "\n".join(
        "  ".join(_cell(cell, widths[at], flush=at in right) for at, cell in enumerate(row)).rstrip() for row in safe
    )


def _cell(text: str, columns: int, *, flush: bool) -> str:
    return " " * (columns - width(text)) + text if flush else pad(text, columns)

"""Diagnostics for people: place, message, the source line with a mark under it, and the fix."""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from handrail.cli.render.safe_text import escape_controls, escape_lines, visible_form, width
from handrail.model.diagnostics import Diagnostic, Severity

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.ADVICE: "cyan"}
LINE_WIDTH = 100
"""The columns for the source line; longer ones are cropped around the mark."""
BEFORE_MARK = 30
MAX_DISTANCE = 1000
"""The characters read on each side of the mark, so that a huge line costs no more than a long one."""


def render_diagnostics(diagnostics: Iterable[Diagnostic], line_width: int = LINE_WIDTH) -> str:
    """Render diagnostics one under the other."""
    return "\n".join(render_diagnostic(found, line_width) for found in diagnostics)


def render_diagnostic(found: Diagnostic, line_width: int = LINE_WIDTH) -> str:
    """Render one diagnostic with its source line."""
    lines = [f"{_place(found)}: {severity(found.severity)}: {escape_controls(found.message)} [{found.code}]"]
    if found.text.strip():
        lines += _excerpt(found, line_width)
    if found.hint:
        first, *rest = escape_lines(found.hint)
        lines += [f"      = {first}", *(f"        {line}" for line in rest)]
    return "\n".join(line.rstrip() for line in lines)


def severity(of: Severity) -> str:
    """Return the name of a severity in its colour."""
    return click.style(of.value, fg=COLOURS[of], bold=True)


def diagnostic_data(found: Diagnostic) -> dict[str, Any]:
    """Convert a diagnostic to JSON data."""
    return {
        "severity": found.severity.value,
        "code": found.code,
        "file": found.file,
        "line": found.line,
        "column": found.column,
        "message": found.message,
        "hint": found.hint,
    }


def count(diagnostics: Sequence[Diagnostic]) -> str:
    """Format the number of diagnostics by severity: `2 errors, 1 warning`."""
    said: list[str] = []
    for kind, plural in ((Severity.ERROR, "errors"), (Severity.WARNING, "warnings"), (Severity.ADVICE, "advice")):
        number = sum(1 for found in diagnostics if found.severity is kind)
        if number:
            said.append(f"{number} {kind.value if number == 1 else plural}")
    return ", ".join(said)


def _place(found: Diagnostic) -> str:
    return f"{escape_controls(found.file)}:{found.line}:{found.column}"


def _excerpt(found: Diagnostic, line_width: int) -> list[str]:
    column = min(max(found.column - 1, 0), len(found.text))
    cut = max(column - MAX_DISTANCE, 0)
    shown = [visible_form(character) for character in found.text[cut : column + MAX_DISTANCE]]
    start = column - cut
    stop = max(start, min(found.end_column - 1 - cut, len(shown)))
    first, last = _window([width(each) for each in shown], start, line_width)
    lead = "…" if cut or first else ""
    before = lead + "".join(shown[first:start])
    line = lead + "".join(shown[first:last]) + ("…" if cut + last < len(found.text) else "")
    mark = "^" * max(1, width("".join(shown[start : min(stop, last)])))
    return [f"{found.line:>5} | {line}", f"      | {' ' * width(before)}{mark}"]


def _window(widths: list[int], start: int, line_width: int) -> tuple[int, int]:
    """Choose the part of a line that is shown: all of it, or what fits around the mark."""
    if sum(widths) <= line_width:
        return 0, len(widths)
    first = start if sum(widths[:start]) > BEFORE_MARK else 0
    room = BEFORE_MARK
    while 0 < first <= start and widths[first - 1] <= room:
        first -= 1
        room -= widths[first]
    last, used = first, 0
    while last < len(widths) and used + widths[last] <= line_width:
        used += widths[last]
        last += 1
    return first, max(last, min(start + 1, len(widths)))

"""The result of an import as text and as JSON data."""

from typing import Any

from handrail.cli.render.diagnostics import diagnostic_data
from handrail.cli.render.safe_text import escape_controls
from handrail.cli.render.validation import render_validation
from handrail.operations.workflows.import_ import ImportResult

GROUPS = {
    "translated": "Translated: means the same",
    "changed": "Changed: means almost the same, review it",
    "lost": "Lost: not carried over",
}


def render_import(result: ImportResult) -> str:
    """Render what was written, then the notes grouped by outcome, then the verdict."""
    lines = [f"wrote {path}" for path in result.written]
    for fate, title in GROUPS.items():
        notes = [note for note in result.notes if note.severity == fate]
        if notes:
            lines += ["", title, *(f"  {note.file}:{note.line}: {note.message}" for note in notes)]
    shown = [escape_controls(line) for line in lines]
    return "\n".join([*shown, "", render_validation(result.validation)])


def import_data(result: ImportResult) -> dict[str, Any]:
    """Convert the result to JSON data."""
    return {
        "kind": result.kind,
        "written": list(result.written),
        "notes": [
            {"severity": note.severity, "file": note.file, "line": note.line, "message": note.message}
            for note in result.notes
        ],
        "ok": result.validation.ok,
        "diagnostics": [diagnostic_data(each) for each in result.validation.diagnostics],
    }

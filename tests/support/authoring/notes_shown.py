"""Notes as texts that fit a page."""

import textwrap

from handrail.authoring.importers import ImportedWorkflows


def notes(imported: ImportedWorkflows, severity: str) -> list[str]:
    """Give the notes of one severity, each on one line."""
    return [f"{note.file}:{note.line} {note.message}" for note in imported.notes if note.severity == severity]


def page(imported: ImportedWorkflows, *severities: str) -> str:
    """Give notes as a page: the place, and below it the message."""
    parts = (
        f"{note.severity} {note.file}:{note.line}\n" + textwrap.indent(textwrap.fill(note.message, 90), "  ")
        for note in imported.notes
        if note.severity in severities or not severities
    )
    return "\n".join(parts) + "\n"

"""Limits the notes that are stored."""

from handrail.engine.text.byte_limits import cut

MAX_NOTES = 4096


def truncate_notes(notes: str) -> str:
    """Truncate notes to the length that is stored, at a whole character."""
    return cut(notes, MAX_NOTES, "\n\n[TRUNCATED]")

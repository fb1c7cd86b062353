"""What is kept of notes."""

from handrail.engine.text.byte_limits import cut

MOST_NOTES = 4096


def kept_notes(notes: str) -> str:
    """Cut notes to what is kept of them, at a whole character."""
    return cut(notes, MOST_NOTES, "\n\n[TRUNCATED]")

"""Times of records: RFC 3339 texts, as beads writes them."""

from datetime import UTC, datetime


def format_time(at: float) -> str:
    """Format a time in UTC, without fractions that are zero."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def parse_time(text: object) -> float:
    """Parse a time; 0 for none, and for what is not a time. A time without an offset is in UTC."""
    if not isinstance(text, str) or not text:
        return 0.0
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0

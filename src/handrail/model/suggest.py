"""Finds the known word that is nearest to a mistyped one."""

from collections.abc import Iterable

MAX_CANDIDATES = 500
MAX_LENGTH = 80


def suggest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    if len(word) > MAX_LENGTH:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 (most commands meet no mistyped word)

    candidates = sorted(set(known))[:MAX_CANDIDATES]
    folded = word.lower().replace("-", "_")
    for candidate in candidates:
        if candidate.lower().replace("-", "_") == folded:
            return candidate
    found = get_close_matches(word, candidates, n=1, cutoff=0.7)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Format `, did you mean 'x'?` for a message, or nothing."""
    found = suggest(word, known)
    return f", did you mean '{found}'?" if found else ""

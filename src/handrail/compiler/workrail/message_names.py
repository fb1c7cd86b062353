"""Formats names from a file for messages, shortened and printable."""

from collections.abc import Iterable

from handrail.authoring.readers.limits import shorten
from handrail.model.suggest import suggest

MAX_LISTED = 24


def quote_name(name: str) -> str:
    """Format a name in quotes."""
    return f"'{shorten(name)}'"


def list_names(names: Iterable[str]) -> str:
    """List names for a hint, only the first ones where there are very many."""
    all_names = tuple(names)
    more = f" and {len(all_names) - MAX_LISTED} more" if len(all_names) > MAX_LISTED else ""
    return ", ".join(shorten(name) for name in all_names[:MAX_LISTED]) + more


def describe_unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Format the message about an unknown dotted name, with a suggestion where one is close."""
    found = _guess_name(name, tuple(known))
    guess = f", did you mean '{found}'?" if found is not None else ""
    return f"unknown {what} {quote_name(name)}{guess}"


def _guess_name(name: str, known: tuple[str, ...]) -> str | None:
    # A long shared prefix such as `wr.contracts.` makes all names look alike, so only what follows it is compared.
    prefix, dot, tail = name.rpartition(".")
    tails = [other[len(prefix) + 1 :] for other in known if dot and other.startswith(prefix + dot)]
    if not tails:
        return suggest(name, known)
    found = suggest(tail, tails)
    return f"{prefix}.{found}" if found is not None else None

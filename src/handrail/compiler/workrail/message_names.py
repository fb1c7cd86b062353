"""Words for messages: names out of a file, shortened and printable."""

from collections.abc import Iterable

from handrail.authoring.readers.limits import shown
from handrail.model.suggest import suggest

MOST_LISTED = 24


def quoted(name: str) -> str:
    """Give a name in quotes."""
    return f"'{shown(name)}'"


def listed(names: Iterable[str]) -> str:
    """List names for a hint; of very many only the first."""
    all_names = tuple(names)
    more = f" and {len(all_names) - MOST_LISTED} more" if len(all_names) > MOST_LISTED else ""
    return ", ".join(shown(name) for name in all_names[:MOST_LISTED]) + more


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Say that a dotted name is not known, with the one that was probably meant."""
    found = _meant(name, tuple(known))
    guess = f", did you mean '{found}'?" if found is not None else ""
    return f"unknown {what} {quoted(name)}{guess}"


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    # a long shared prefix such as `wr.contracts.` makes all names look alike, so only what follows is compared
    prefix, dot, tail = name.rpartition(".")
    tails = [other[len(prefix) + 1 :] for other in known if dot and other.startswith(prefix + dot)]
    if not tails:
        return suggest(name, known)
    found = suggest(tail, tails)
    return f"{prefix}.{found}" if found is not None else None

"""Remembers what was found out about large values, by their identity: to hash a plan takes as long as to read it."""

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST = 64


def cached_by_identity(find: Callable[[T], R]) -> Callable[[T], R]:
    """Call a function of one frozen value once for each of the values that it was last called with."""
    # The value is held too: as long as it is, no other object has its identity.
    known: OrderedDict[int, tuple[T, R]] = OrderedDict()

    def look_up(value: T) -> R:
        entry = known.get(id(value))
        if entry is None:
            entry = value, find(value)
            known[id(value)] = entry
            if len(known) > MOST:
                known.popitem(last=False)
        return entry[1]

    return look_up

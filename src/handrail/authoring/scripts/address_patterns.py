"""Selects the key of a script for a step: the most specific one whose pattern matches the step's address."""

import re
from collections.abc import Iterable
from functools import lru_cache

from handrail.frozen import frozen

ANY_ITEM = "[*]"
EXAMPLES = "reproduce, review@2/reviewer, build[auth]/implement or build[*]/implement"

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_ITEM = r"\[(?:(?!\](?:[/@#]|\Z)).)+\]"
_ROUND = r"[@#][1-9][0-9]*"
"""A round, or the second and further calls that a flow makes under one name."""
_PART = f"{_NAME}(?:{_ITEM})?(?:{_ROUND})?"
_ADDRESS = re.compile(f"{_PART}(?:/{_PART})*", re.DOTALL)
_GIVEN_ROUND = re.compile(rf"{_ROUND}(?=/|\Z)")
_PIECES = re.compile(rf"(\[\*\]|/|{_ROUND}(?=/|\Z))")
_WILD = r"\[(?:(?!\]/).)+\]"
_OMITTED = r"([@#][0-9]+)?"


def is_address(key: str) -> bool:
    """Whether a key of a script can be the address of a step."""
    return _ADDRESS.fullmatch(key) is not None


@frozen
class Match:
    """The key that plays for an address."""

    key: str
    of_round: bool
    """Whether it names every round of the address, so that only the calls of this round are counted."""


def find_key(address: str, keys: Iterable[str]) -> Match | None:
    """Find the key for an address: one with the round before one without, one with the item before `[*]`."""
    fitting = [(key, found) for key in keys if (found := _pattern(key).fullmatch(address)) is not None]
    if not fitting:
        return None
    key, found = max(fitting, key=lambda each: _rank(each[0]))
    return Match(key, _rounds(key) > 0 and not any(found.groups()))


def _rank(key: str) -> tuple[int, int, int]:
    return _rounds(key), -key.count(ANY_ITEM), key.find(ANY_ITEM)


def _rounds(key: str) -> int:
    return len(_GIVEN_ROUND.findall(key))


@lru_cache(maxsize=1024)
def _pattern(key: str) -> re.Pattern[str]:
    """Compile the addresses that a key matches: with its own rounds, or with any round where it names none."""
    pattern, given = "", False
    for piece in _PIECES.split(key):
        if piece == "/":
            pattern += ("" if given else _OMITTED) + "/"
        else:
            pattern += _WILD if piece == ANY_ITEM else re.escape(piece)
        if piece:
            given = _GIVEN_ROUND.fullmatch(piece) is not None
    return re.compile(pattern + ("" if given else _OMITTED), re.DOTALL)

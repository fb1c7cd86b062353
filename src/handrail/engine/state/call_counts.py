"""How calls of agents are counted."""

import re

from rpds import HashTrieMap

_ROUND = re.compile(r"@\d+")


def turn_key(address: str) -> str:
    """Give an address without its rounds: calls of an agent are counted over all of them."""
    return _ROUND.sub("", address)


def counted(turns: "HashTrieMap[str, int]", address: str) -> "HashTrieMap[str, int]":
    """Count a call, over all rounds and for its own round."""
    for key in {turn_key(address), address}:
        turns = turns.insert(key, turns.get(key, 0) + 1)
    return turns


def taken_back(turns: "HashTrieMap[str, int]", address: str) -> "HashTrieMap[str, int]":
    """Take back the count of a call that is made once more."""
    for key in {turn_key(address), address}:
        turns = turns.insert(key, max(turns.get(key, 0) - 1, 0))
    return turns

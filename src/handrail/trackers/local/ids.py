"""Ids of issues: a prefix from the repository's folder, and as many base-36 digits of a hash as are needed."""

import hashlib
import re
from collections.abc import Iterator

MIN_DIGITS, MAX_DIGITS = 3, 8
MAX_PREFIX = 24
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_OTHER = re.compile(r"[^a-z0-9]+")
VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
"""What an id from elsewhere may look like."""


def prefix_of(repository: str) -> str:
    """Return the prefix of the ids in a repository: the name of its folder."""
    name = repository.rstrip("/").rpartition("/")[2].lower()
    return _OTHER.sub("-", name).strip("-")[:MAX_PREFIX].strip("-") or "issue"


def digits_for(count: int) -> int:
    """Return how many digits make a collision of so many ids unlikely: 3 to 28, 4 to about 170, 5 to 1,000."""
    digits = MIN_DIGITS
    # By the birthday bound, n ids among 36^d collide with a probability of about n^2 / (2 * 36^d).
    while digits < MAX_DIGITS and count * count > 36**digits / 60:
        digits += 1
    return digits


def propose_ids(prefix: str, content: str, count: int) -> Iterator[str]:
    """Propose ids for an issue, without an end: each is to be tried until one is free."""
    digits, nonce = digits_for(count), 0
    while True:
        number = int.from_bytes(hashlib.sha256(f"{content}|{nonce}".encode(errors="replace")).digest()[:16])
        text = ""
        for _ in range(digits):
            number, digit = divmod(number, 36)
            text += _DIGITS[digit]
        yield f"{prefix}-{text}"
        nonce += 1
        # Ten collisions in a row mean that the space is full.
        if nonce % 10 == 0:
            digits = min(digits + 1, MAX_DIGITS)


def propose_children(parent: str, taken: set[str]) -> Iterator[str]:
    """Propose ids for a part of an issue: `PARENT.1`, `PARENT.2`."""
    number = 1
    while True:
        if f"{parent}.{number}" not in taken:
            yield f"{parent}.{number}"
        number += 1

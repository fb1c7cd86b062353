"""The hash chain over a stream: each event's hash covers its bytes and the hash before it."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.ports.log import Checkpoint, Head, NewEvent, StoredEvent

if TYPE_CHECKING:
    import hashlib
else:
    # It loads the library of OpenSSL, which commands that read lists alone do not need.
    hashlib = late_import("hashlib")

START = Head(0, "0" * 64)
"""The head of a stream that has no events."""


def link(stream: str, before: Head, event: NewEvent | StoredEvent) -> Head:
    """Compute the head of a stream after one more event."""
    seq = before.seq + 1
    # The newline cannot occur inside the header, so no two events produce the same bytes.
    header = f"{before.hash}[{_quote(stream)}, {seq}, {_quote(event.kind)}, {event.version}]\n"
    return Head(seq, hashlib.sha256(header.encode() + event.payload).hexdigest())


@lru_cache(maxsize=1024)
def _quote(name: str) -> str:
    return json.dumps(name)


def intact(stream: str, before: Head, events: Iterable[StoredEvent]) -> Head:
    """Follow the events as long as each is the one that was written, and return the head that they reach."""
    head = before
    for event in events:
        after = link(stream, head, event)
        if event.seq != after.seq or event.hash != after.hash:
            break
        head = after
    return head


def seal(checkpoint: Checkpoint, event_hash: str) -> str:
    """Compute the hash that ties a checkpoint to its bytes and to the event after which it was taken."""
    header = json.dumps([checkpoint.stream, checkpoint.seq, checkpoint.reducer, event_hash]).encode() + b"\n"
    return hashlib.sha256(header + checkpoint.state).hexdigest()


def digest_of(data: bytes) -> str:
    """Compute the digest that names a blob."""
    return hashlib.sha256(data).hexdigest()

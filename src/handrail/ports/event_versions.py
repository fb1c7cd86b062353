"""Old shapes of events are lifted to the newest when they are read; what is stored never changes."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from handrail.ports.log import StoredEvent

Lifter: TypeAlias = Callable[[bytes], bytes]
"""Turns the payload of one version of a shape into that of the next."""

Lifters: TypeAlias = Mapping[tuple[str, int], Lifter]
"""By kind and the version that is lifted."""


def lift(event: StoredEvent, lifters: Lifters) -> StoredEvent:
    """Bring an event to the newest version of its shape; its hash stays that of the stored bytes."""
    version, payload = event.version, event.payload
    while (lifter := lifters.get((event.kind, version))) is not None:
        version, payload = version + 1, lifter(payload)
    return event if version == event.version else event._replace(version=version, payload=payload)


def lift_all(events: Iterable[StoredEvent], lifters: Lifters) -> tuple[StoredEvent, ...]:
    """Bring events to the newest version of their shapes."""
    return tuple(lift(event, lifters) for event in events)

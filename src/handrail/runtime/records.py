"""Events as the log keeps them, and back."""

import json
from typing import Any, cast

import rfc8785

from handrail.model.codec import decode, encode
from handrail.model.events import VERSION, Event
from handrail.ports.log import NewEvent, StoredEvent


def to_log(event: Event) -> NewEvent:
    """Give an event as the log keeps it."""
    return NewEvent(event.kind, VERSION, rfc8785.dumps(encode(event)))


def from_log(stored: StoredEvent) -> Event:
    """Give the event that the log kept."""
    return cast("Event", decode(cast("type[Any]", Event), json.loads(stored.payload)))

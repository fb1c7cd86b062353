"""Events as the log keeps them, and back."""

import json
from typing import Any, cast

from handrail.model.codec import decode, fields_of
from handrail.model.events import VERSION, Event
from handrail.ports.log import NewEvent, StoredEvent

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False, default=fields_of).encode


def to_log(event: Event) -> NewEvent:
    """Give an event as the log keeps it."""
    # Plain JSON in ASCII: the chain covers these bytes whatever their order, any integer fits, and so does half a
    # surrogate pair that a command printed.
    return NewEvent(event.kind, VERSION, _dumps(fields_of(event)).encode())


def from_log(stored: StoredEvent) -> Event:
    """Give the event that the log kept."""
    return cast("Event", decode(cast("type[Any]", Event), json.loads(stored.payload)))

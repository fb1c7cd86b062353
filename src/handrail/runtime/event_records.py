"""Events as the log keeps them, and back."""

import json
from typing import Any, cast

from handrail.model.codec import decode, fields_of
from handrail.model.history.events import VERSION, Event
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.ports.event_versions import lift
from handrail.ports.log import NewEvent, StoredEvent

STRUCTURE = frozenset(
    (
        *("kind", "run", "workflow", "definition", "plan", "address", "action", "status", "reason", "child", "parent"),
        *("began", "seq", "state", "snapshot", "files", "tree", "source", "workspace", "at", "checks", "script"),
        *("pass_env", "scope"),
    )
)
"""Fields of events that hold names, digests and paths: masking them would break what they name."""

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False, default=fields_of).encode


def to_log(event: Event) -> NewEvent:
    """Give an event as the log keeps it."""
    # Plain JSON in ASCII: the chain covers these bytes whatever their order, any integer fits, and so does half a
    # surrogate pair that a command printed.
    return NewEvent(event.kind, VERSION, _dumps(fields_of(event)).encode())


def without_secrets(event: Event, redactor: Redactor) -> Event:
    """Give an event as it may be kept: the same where it holds no secret."""
    return kept(event, redactor)[0]


def kept(event: Event, redactor: Redactor) -> tuple[Event, NewEvent]:
    """Give an event as it may be kept, and as the log keeps it."""
    written = to_log(event)
    if not redactor.find(written.payload):
        return event, written
    data = cast("dict[str, JsonValue]", json.loads(written.payload))
    clean = {name: value if name in STRUCTURE else masked(value, redactor) for name, value in data.items()}
    event = cast("Event", decode(cast("type[Any]", Event), clean))
    return event, to_log(event)


def masked(value: JsonValue, redactor: Redactor) -> JsonValue:
    """Give a value without the secrets in its texts."""
    match value:
        case str():
            return redactor.text(value)
        case list():
            return [masked(each, redactor) for each in value]
        case dict():
            return {redactor.text(name): masked(each, redactor) for name, each in value.items()}
        case _:
            return value


def from_log(stored: StoredEvent) -> Event:
    """Read the event that the log kept, whichever version of its shape it has; the only way from bytes to an event."""
    fields = json.loads(stored.payload) if stored.version == VERSION else lift(stored)
    return cast("Event", decode(cast("type[Any]", Event), fields))

"""Events as the log keeps them, and back."""

import json
import re
from typing import Any, cast

from handrail.errors import StorageDamaged, UsageError
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
        *("pass_env", "scope", "calls", "printed", "root", "given"),
    )
)
"""Fields of events that hold names, digests and paths: masking them would break what they name."""

MOST_WORDS = 200
"""Characters of what is wrong with an event."""

DEEPEST = 300
"""Levels of an event; JSON is read to about a thousand, less how deep the reader itself stands in calls."""
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKETS = re.compile(r"[\[\]{}]")

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False, default=fields_of).encode


def to_log(event: Event) -> NewEvent:
    """Give an event as the log keeps it."""
    # Plain JSON in ASCII: the chain covers these bytes whatever their order, any integer fits, and so does half a
    # surrogate pair that a command printed.
    try:
        text = _dumps(fields_of(event))
    except (ValueError, TypeError, RecursionError) as error:
        raise _refused(event, str(error)) from error
    # A count is cheap, and an event with fewer brackets than this cannot be too deep to be read back.
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise _refused(event, f"it is nested more than {DEEPEST} levels deep")
    return NewEvent(event.kind, VERSION, text.encode())


def reads_back(event: Event) -> bool:
    """Tell whether an event is the same after it was written and read: each of its fields is of its type."""
    try:
        fields = json.loads(to_log(event).payload)
        return cast("Event", decode(cast("type[Any]", Event), fields)) == event
    except (UsageError, ValueError, TypeError, LookupError, RecursionError):
        return False


def _refused(event: Event, why: str) -> UsageError:
    return UsageError(f"the event {event.kind} cannot be recorded: {why}", next_step="give it other values")


def _depth(text: str) -> int:
    """How deep a JSON text is nested."""
    deepest = depth = 0
    for sign in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


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
    try:
        fields = json.loads(stored.payload) if stored.version == VERSION else lift(stored)
        return cast("Event", decode(cast("type[Any]", Event), fields))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise unreadable(stored, error) from error


def unreadable(stored: StoredEvent, why: Exception) -> StorageDamaged:
    """Give the error about an event that cannot be read or folded: it ends what can be known of its run."""
    run, words = stored.stream, " ".join(str(why).split())
    shown = words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}..."
    message = f"run {run} cannot be read: event {stored.seq} ({stored.kind}): {type(why).__name__}: {shown}"
    hint = f"`handrail doctor {run} --repair` cuts it back to what can be read, and keeps the rest aside"
    return StorageDamaged(message, next_step=hint, stream=run, intact=stored.seq - 1)

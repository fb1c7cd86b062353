"""Converts events to the form in which the log stores them, and back, and holds contents that events name."""

import json
import re
from collections.abc import Iterable
from typing import Any, cast

from handrail.errors import StorageDamaged, UsageError
from handrail.model.codec import decode, fields_of
from handrail.model.history.events import VERSION, Event
from handrail.model.history.named_blobs import blobs_named_by
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.ports.event_versions import lift
from handrail.ports.hash_chain import digest_of
from handrail.ports.log import Blobs, NewEvent, StoredEvent

STRUCTURE = frozenset(
    (
        *("kind", "run", "workflow", "definition", "plan", "address", "action", "status", "reason", "child", "parent"),
        *("began", "seq", "state", "snapshot", "files", "tree", "source", "workspace", "at", "checks", "script"),
        *("pass_env", "scope", "calls", "printed", "root", "given", "issue"),
    )
)
"""Fields of events that hold names, digests and paths: masking them would break the references."""

MAX_WORDS = 200
"""The longest description of what is wrong with an event, in characters."""

MAX_DEPTH = 300
"""The deepest nesting of an event; Python reads JSON to about a thousand levels, minus the reader's own call depth."""
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKETS = re.compile(r"[\[\]{}]")

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False, default=fields_of).encode


def encode_event(event: Event) -> NewEvent:
    """Convert an event to the form in which the log stores it."""
    # Plain JSON in ASCII: the chain covers these bytes whatever their order, any integer fits, and so does half a
    # surrogate pair that a command printed.
    try:
        text = _dumps(fields_of(event))
    except (ValueError, TypeError, RecursionError) as error:
        raise _unrecordable_error(event, str(error)) from error
    # Counting is cheap, and an event with fewer brackets than this cannot be nested too deeply to be read back.
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise _unrecordable_error(event, f"it is nested more than {MAX_DEPTH} levels deep")
    return NewEvent(event.kind, VERSION, text.encode())


def can_read_back(event: Event) -> bool:
    """Whether an event is the same after it was written and read: each of its fields has its type."""
    try:
        fields = json.loads(encode_event(event).payload)
        return cast("Event", decode(cast("type[Any]", Event), fields)) == event
    except (UsageError, ValueError, TypeError, LookupError, RecursionError):
        return False


def _unrecordable_error(event: Event, why: str) -> UsageError:
    return UsageError(f"the event {event.kind} cannot be recorded: {why}", next_step="use other values")


def _depth(text: str) -> int:
    """Compute how deep a JSON text is nested."""
    deepest = depth = 0
    for sign in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def redact_event(event: Event, redactor: Redactor) -> Event:
    """Remove the secrets from an event; one without secrets stays the same object."""
    return redact_and_encode(event, redactor)[0]


def redact_and_encode(event: Event, redactor: Redactor) -> tuple[Event, NewEvent]:
    """Remove the secrets from an event; return it together with the form in which the log stores it."""
    written = encode_event(event)
    if not redactor.find(written.payload):
        return event, written
    data = cast("dict[str, JsonValue]", json.loads(written.payload))
    clean = {name: value if name in STRUCTURE else redact_value(value, redactor) for name, value in data.items()}
    event = cast("Event", decode(cast("type[Any]", Event), clean))
    return event, encode_event(event)


def redact_value(value: JsonValue, redactor: Redactor) -> JsonValue:
    """Mask the secrets in the texts of a value."""
    match value:
        case str():
            return redactor.text(value)
        case list():
            return [redact_value(each, redactor) for each in value]
        case dict():
            return {redactor.text(name): redact_value(each, redactor) for name, each in value.items()}
        case _:
            return value


def decode_event(stored: StoredEvent) -> Event:
    """Read a stored event, whichever version of its shape it has; the only way from bytes to an event."""
    try:
        fields = json.loads(stored.payload) if stored.version == VERSION else lift(stored)
        return cast("Event", decode(cast("type[Any]", Event), fields))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise unreadable_event_error(stored, error) from error


def unreadable_event_error(stored: StoredEvent, why: Exception) -> StorageDamaged:
    """Build the error for an event that cannot be read or folded: nothing after it can be known of its run."""
    run, words = stored.stream, " ".join(str(why).split())
    shown = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}..."
    message = f"run {run} cannot be read: event {stored.seq} ({stored.kind}): {type(why).__name__}: {shown}"
    hint = f"`handrail doctor {run} --repair` cuts the run back to what can be read, and keeps a copy of the rest"
    return StorageDamaged(message, next_step=hint, stream=run, intact=stored.seq - 1)


MAX_BLOB_SIZE = 64 * 1024
"""Bytes; a larger content is stored at once, since a long commit holds up all other writers."""
MAX_BLOBS = 100


class HeldBlobs:
    """Contents that are stored in the commit of the event that names them, so that they cost no commit of their own.

    A crash before that commit loses the content together with the event, and both are made again. A content whose event
    is not recorded is stored when others take its place: what is not held here is in the log.
    """

    def __init__(self, log: Blobs) -> None:
        self._log = log
        self._held: dict[str, bytes] = {}

    def put_blob(self, data: bytes) -> str:
        """Hold a content, or store a large one, and return its digest."""
        if len(data) > MAX_BLOB_SIZE:
            return self._log.put_blob(data)
        digest = digest_of(data)
        self._held[digest] = data
        if len(self._held) > MAX_BLOBS:
            oldest = next(iter(self._held))
            self._log.put_blob(self._held[oldest])
            del self._held[oldest]
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Read a content; raises `NotFound` if it is neither held nor stored."""
        held = self._held.get(digest)
        return self._log.get_blob(digest) if held is None else held

    def erase_blob(self, digest: str) -> bool:
        """Remove a content; False if there is nothing to erase."""
        held = self._held.pop(digest, None) is not None
        return self._log.erase_blob(digest) or held

    def find_named(self, events: Iterable[Event]) -> dict[str, bytes]:
        """Return the held contents that some events name, by digest."""
        if not self._held:
            return {}
        named = (digest for event in events for digest in blobs_named_by(event))
        return {digest: self._held[digest] for digest in named if digest in self._held}

    def release(self, digests: Iterable[str]) -> None:
        """Forget contents that were stored."""
        for digest in digests:
            self._held.pop(digest, None)

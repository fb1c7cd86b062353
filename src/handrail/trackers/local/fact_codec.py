"""Converts the facts of issues to the form in which the log stores them, and back."""

import json
from typing import Any, cast

from handrail.errors import StorageDamaged, UsageError
from handrail.model.codec import decode, fields_of
from handrail.model.issue_events import VERSION, IssueEvent
from handrail.ports.log import NewEvent, StoredEvent

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=fields_of).encode


def encode_fact(event: IssueEvent) -> NewEvent:
    """Convert a fact to the form in which the log stores it."""
    try:
        return NewEvent(event.kind, VERSION, _dumps(fields_of(event)).encode())
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"the issue cannot be recorded: {error}", next_step="use other values") from error


def decode_fact(stored: StoredEvent) -> IssueEvent:
    """Read a stored fact."""
    try:
        if stored.version != VERSION:
            message = f"version {stored.version} of {stored.kind} is newer than this Handrail"
            raise ValueError(message)
        return cast("IssueEvent", decode(cast("type[Any]", IssueEvent), json.loads(stored.payload)))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        name = stored.stream.partition("#")[2]
        message = f"issue {name} cannot be read: event {stored.seq} ({stored.kind}): {error}"
        hint = "let the doctor cut the issue back to what can be read: handrail doctor --repair"
        raise StorageDamaged(message, next_step=hint, stream=stored.stream, intact=stored.seq - 1) from error

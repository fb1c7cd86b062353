"""Converts events of an older shape to the newest shape when they are read; what is stored never changes.

One number, `VERSION` in `model.history.events`, counts the shapes of all events together. It goes up by one with every
change that an older Handrail could not read: a new kind, a new field, a field that is named or filled differently. If
the newest classes cannot read what an older version stored, that kind gets a lifter here for that version. A kind
without one was the same in the next version, and a kind never changes its name: the log finds events by it.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TypeAlias

from handrail.errors import StorageTooNew
from handrail.model.actors import lift_words
from handrail.model.history.events import VERSION
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import StoredEvent

Fields: TypeAlias = dict[str, JsonValue]
"""The fields in the payload of an event."""

Lifter: TypeAlias = Callable[[Fields], Fields]
"""Converts the fields of one version of a kind to those of the next."""

Lifters: TypeAlias = Mapping[tuple[str, int], Lifter]
"""By kind and the version that is lifted."""


def _type_actor(fields: Fields) -> Fields:
    """Convert the bare name of a person, or the description of whoever else did it, that version 1 has in `by`."""
    # A run that stopped its child named itself.
    return {**fields, "by": lift_words(str(fields.get("by") or ""), may_be_run=fields.get("kind") == "run_ended")}


def _record_root(fields: Fields) -> Fields:
    """Record where a run comes from, which up to version 4 only its id tells: the caller's id, a dot and the event.

    Most of them have no environment variables either.
    """
    fields = {"env": {}, **fields}
    if fields.get("parent") is None:
        return fields
    run = str(fields.get("run"))
    root = _NUMBERS.sub("", run)
    return {**fields, "root": root, "generation": run.removeprefix(root).count(".")}


_NUMBERS = re.compile(r"(\.[0-9]+)+$", re.ASCII)
_NAMES_AN_ACTOR = (
    *("run_started", "run_forked", "run_resumed", "run_rewound", "run_taken", "run_released", "run_ended"),
    *("question_answered", "message_given", "step_ended", "step_refused", "work_reported", "delegation_reported"),
    *("checkpoint_made", "preferences_set", "capability_observed", "context_merged", "approval_decided"),
)
LIFTERS: Lifters = MappingProxyType(
    {**{(kind, 1): _type_actor for kind in _NAMES_AN_ACTOR}, ("run_started", 4): _record_root}
)
"""Every older shape that this Handrail reads."""

LIFTERS_IN_USE: ContextVar[Lifters] = ContextVar("LIFTERS_IN_USE", default=LIFTERS)
"""The table that `lift` uses; a test of a lifter sets another one for its own context alone."""


def lift(stored: StoredEvent) -> Fields:
    """Read the payload of an event of another version than `VERSION`, in the shape of the newest version."""
    if stored.version > VERSION:
        where = f"event {stored.seq} of {stored.stream} ({stored.kind})"
        message = f"{where} has version {stored.version}, but this version of Handrail reads versions up to {VERSION}"
        raise StorageTooNew(message, next_step="install the newest Handrail: pip install --upgrade handrail")
    fields: Fields = json.loads(stored.payload)
    table = LIFTERS_IN_USE.get()
    # By the steps in the table, not by counting: an imported file may claim any number.
    for version in sorted(version for kind, version in table if kind == stored.kind and version >= stored.version):
        fields = table[stored.kind, version](fields)
    return fields

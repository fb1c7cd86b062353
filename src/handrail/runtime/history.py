"""Reads a run from the log: its state by folding, from the newest checkpoint on, and its pinned plan."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state
from handrail.errors import NotFound, StorageDamaged
from handrail.model.codec import decode
from handrail.model.history.events import Event
from handrail.model.history.run_state import REDUCER, RunState
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import Plan
from handrail.ports.log import Append, Log, StoredEvent
from handrail.runtime.event_records import from_log, to_log, without_secrets
from handrail.runtime.run_summary import summary_of, timers_of

MOST_KNOWN = 32


class Folded(NamedTuple):
    """The state of a run after an event."""

    state: RunState
    hash: str
    """The hash of that event: whoever rewrites the history changes it."""
    checkpointed: int
    """The event after which the checkpoint was taken that the fold began with."""


@dataclass(slots=True)
class Known:
    """The states that were folded last: a run that moves often is not folded from zero each time."""

    _kept: "OrderedDict[str, Folded]" = field(default_factory=OrderedDict[str, Folded])

    def keep(self, found: Folded) -> None:
        """Remember a state."""
        self._kept[found.state.run] = found
        self._kept.move_to_end(found.state.run)
        if len(self._kept) > MOST_KNOWN:
            self._kept.popitem(last=False)

    def folded(self, log: Log, run: str) -> Folded:
        """Give the state of a run, from the one that is remembered if it is of the same history."""
        kept = self._kept.get(run)
        if kept is not None and log.last(run).seq >= kept.state.seq:
            first, *later = log.read(run, after=kept.state.seq - 1)
            if first.hash == kept.hash:
                return _onward(log, kept, later)
        return folded(log, run)


def state_of(log: Log, run: str) -> RunState:
    """Fold a run's events, beginning with its newest checkpoint."""
    return folded(log, run).state


def folded(log: Log, run: str) -> Folded:
    """Fold a run's events, beginning with its newest checkpoint."""
    kept = log.checkpoint(run, REDUCER)
    # The event before the first that is folded too: its hash says which history the checkpoint belongs to.
    events = log.read(run, after=0 if kept is None else kept.seq - 1)
    if not events:
        raise NotFound(f"there is no run '{run}'", next_step="handrail status")
    first = events[0]
    if kept is None:
        return _onward(log, Folded(apply(None, from_log(first), first.seq, log.get_blob), first.hash, 0), events[1:])
    return _onward(log, Folded(decode_state(kept.state), first.hash, kept.seq), events[1:])


def _onward(log: Log, kept: Folded, later: Sequence[StoredEvent]) -> Folded:
    state = kept.state
    for stored in later:
        state = apply(state, from_log(stored), stored.seq, log.get_blob)
    return Folded(state, later[-1].hash if later else kept.hash, kept.checkpointed)


def state_before(log: Log, run: str, seq: int) -> RunState:
    """Fold a run's events up to the one before a sequence number."""
    state: RunState | None = None
    for stored in log.read(run, limit=seq - 1):
        state = apply(state, from_log(stored), stored.seq, log.get_blob)
    if state is None:
        raise NotFound(f"run '{run}' has nothing before event {seq}")
    return state


def events_of(log: Log, run: str) -> tuple[tuple[int, Event], ...]:
    """Give a run's events with their sequence numbers."""
    return tuple((stored.seq, from_log(stored)) for stored in log.read(run))


def beginning(log: Log, redactor: Redactor, run: str, first: Event, *later: Event) -> Append:
    """Give the append by which a run comes into being; a copy may begin with a time that it waits for."""
    clean = tuple(without_secrets(event, redactor) for event in (first, *later))
    state = apply(None, clean[0], 1, log.get_blob)
    for event in clean[1:]:
        state = apply(state, event, state.seq + 1, log.get_blob)
    events = tuple(to_log(event) for event in clean)
    return Append(run, 0, events, timers=timers_of(state, state), summary=summary_of(state))


def plan_of(log: Log, digest: str) -> Plan:
    """Give a pinned plan by the digest of its blob."""
    try:
        return _decoded(log.get_blob(digest))
    except NotFound as error:
        message = f"the plan that the run is pinned to is gone from the log ({digest[:12]})"
        hint = "start the same workflow again, unchanged: that keeps its plan once more; then resume"
        raise StorageDamaged(message, next_step=hint) from error


@lru_cache(maxsize=64)
def _decoded(data: bytes) -> Plan:
    return decode(Plan, json.loads(data))

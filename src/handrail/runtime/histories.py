"""Reads a run from the log: its state by folding, from the newest checkpoint on, and its pinned plan."""

import json
from functools import lru_cache

from handrail.engine.apply import apply
from handrail.engine.snapshots import decode_state
from handrail.errors import NotFound
from handrail.model.codec import decode
from handrail.model.events import Event
from handrail.model.plan import Plan
from handrail.model.run import REDUCER, RunState
from handrail.ports.log import Append, Log
from handrail.runtime.records import from_log, to_log
from handrail.runtime.summaries import summary_of


def state_of(log: Log, run: str) -> RunState:
    """Fold a run's events, beginning with its newest checkpoint."""
    return folded(log, run)[0]


def folded(log: Log, run: str) -> tuple[RunState, int]:
    """Give the state of a run, and the event after which the checkpoint was taken that it began with."""
    kept = log.checkpoint(run, REDUCER)
    state = decode_state(kept.state) if kept is not None else None
    for stored in log.read(run, after=state.seq if state is not None else 0):
        state = apply(state, from_log(stored), stored.seq, log.get_blob)
    if state is None:
        raise NotFound(f"there is no run '{run}'", next_step="handrail status")
    return state, 0 if kept is None else kept.seq


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


def beginning(log: Log, run: str, event: Event) -> Append:
    """Give the append by which a run comes into being."""
    state = apply(None, event, 1, log.get_blob)
    return Append(run, 0, (to_log(event),), summary=summary_of(state))


def plan_of(log: Log, digest: str) -> Plan:
    """Give a pinned plan by the digest of its blob."""
    return _decoded(log.get_blob(digest))


@lru_cache(maxsize=64)
def _decoded(data: bytes) -> Plan:
    return decode(Plan, json.loads(data))

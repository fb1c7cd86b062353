"""Reads a run from the log: its state, folded from the newest checkpoint on, and its pinned plan."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import rfc8785

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state
from handrail.engine.state.given import take_out
from handrail.errors import HandrailError, NotFound, StorageDamaged, StorageFault, StorageTooNew, UsageError
from handrail.model.codec import decode, encode
from handrail.model.history.events import ClockNoted, Event, RunStarted
from handrail.model.history.run_lines import Filter, is_run
from handrail.model.history.run_state import REDUCER, RunState
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import Plan
from handrail.ports.log import Append, Log, StoredEvent
from handrail.runtime.event_records import (
    can_read_back,
    decode_event,
    encode_event,
    redact_event,
    unreadable_event_error,
)
from handrail.runtime.ports import PinnedWorkflow, stamp_clock
from handrail.runtime.run_summary import summary_of, timers_of

MAX_KNOWN = 32
GIVE_PLAIN = "use plain text, numbers, lists and maps as values"


class FoldedState(NamedTuple):
    """The state of a run after an event."""

    state: RunState
    hash: str
    """The hash of that event: it changes if the history is rewritten."""
    checkpointed: int
    """The sequence number of the checkpoint that the fold began with."""


@dataclass(slots=True)
class StateCache:
    """A cache of the newest states: a run that moves often is not folded from the start each time."""

    _kept: "OrderedDict[str, FoldedState]" = field(default_factory=OrderedDict[str, FoldedState])

    def keep(self, found: FoldedState) -> None:
        """Add a state to the cache."""
        self._kept[found.state.run] = found
        self._kept.move_to_end(found.state.run)
        if len(self._kept) > MAX_KNOWN:
            self._kept.popitem(last=False)

    def fold_run(self, log: Log, run: str) -> FoldedState:
        """Fold the state of a run, from the cached one if it is of the same history."""
        kept = self._kept.get(run)
        if kept is not None and log.last(run).seq >= kept.state.seq:
            first, *later = log.read(run, after=kept.state.seq - 1)
            if first.hash == kept.hash:
                return _fold_later(log, kept, later)
        return fold_run(log, run)


def state_of(log: Log, run: str) -> RunState:
    """Fold a run's events, beginning with its newest checkpoint."""
    return fold_run(log, run).state


def fold_run(log: Log, run: str) -> FoldedState:
    """Fold a run's events, beginning with its newest checkpoint."""
    kept = log.checkpoint(run, REDUCER)
    # Read one event before the first that is folded: its hash shows which history the checkpoint belongs to.
    events = log.read(run, after=0 if kept is None else kept.seq - 1)
    if not events:
        raise NotFound(f"there is no run '{run}'", next_step="handrail status")
    first = events[0]
    if kept is None:
        return _fold_later(log, FoldedState(_apply(log, None, first), first.hash, 0), events[1:])
    try:
        state = decode_state(kept.state, log.get_blob)
    except (ValueError, TypeError, LookupError, RecursionError):
        # A checkpoint only saves time: the events before it give the same state.
        return _fold_from_start(log, run)
    return _fold_later(log, FoldedState(state, first.hash, kept.seq), events[1:])


def _fold_from_start(log: Log, run: str) -> FoldedState:
    first, *later = log.read(run)
    return _fold_later(log, FoldedState(_apply(log, None, first), first.hash, 0), later)


def _fold_later(log: Log, kept: FoldedState, later: Sequence[StoredEvent]) -> FoldedState:
    state = kept.state
    for stored in later:
        state = _apply(log, state, stored)
    return FoldedState(state, later[-1].hash if later else kept.hash, kept.checkpointed)


def _apply(log: Log, state: RunState | None, stored: StoredEvent) -> RunState:
    """Fold a stored event; one that does not fit raises an error, whatever is wrong with it."""
    event = decode_event(stored)
    try:
        return apply(state, event, stored.seq, log.get_blob)
    except StorageFault:
        raise
    except (HandrailError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise unreadable_event_error(stored, error) from error


def is_readable(log: Log, run: str) -> bool:
    """Whether the whole history of a run can be read."""
    try:
        state_of(log, run)
    except (StorageDamaged, StorageTooNew):
        return False
    return True


def readable_state(log: Log, run: str) -> RunState:
    """Return the state of a run, or of as much of its history as can be read."""
    try:
        return state_of(log, run)
    except (StorageDamaged, StorageTooNew):
        return _fold_readable(log, run)


def _fold_readable(log: Log, run: str) -> RunState:
    state: RunState | None = None
    for stored in readable_events(log, run):
        state = _apply(log, state, stored)
    if state is None:
        # Not even its first event can be read: raise the reason.
        return state_of(log, run)
    return state


def readable_events(log: Log, run: str) -> tuple[StoredEvent, ...]:
    """List the events of a run up to the first that cannot be read."""
    state: RunState | None = None
    found: list[StoredEvent] = []
    for stored in _intact_events(log, run):
        try:
            state = _apply(log, state, stored)
        except (StorageDamaged, StorageTooNew):
            break
        found.append(stored)
    return tuple(found)


def _intact_events(log: Log, run: str) -> tuple[StoredEvent, ...]:
    try:
        return log.read(run)
    except StorageDamaged as error:
        return log.read(run, limit=error.intact) if error.intact else ()


def state_before(log: Log, run: str, seq: int) -> RunState:
    """Fold a run's events up to the one before a sequence number."""
    state: RunState | None = None
    for stored in log.read(run, limit=seq - 1):
        state = _apply(log, state, stored)
    if state is None:
        raise NotFound(f"run '{run}' has no events before event {seq}")
    return state


def events_of(log: Log, run: str) -> tuple[tuple[int, Event], ...]:
    """List a run's events with their sequence numbers."""
    return tuple((stored.seq, decode_event(stored)) for stored in log.read(run))


def events_by_one_clock(log: Log, run: str) -> tuple[tuple[int, Event], ...]:
    """List a run's events with their times converted to the clock as it was last set."""
    found: list[tuple[int, Event]] = []
    later = 0.0
    for seq, event in reversed(events_of(log, run)):
        found.append((seq, replace(event, at=event.at + later) if later else event))
        if isinstance(event, ClockNoted):
            later += event.by
    return tuple(reversed(found))


def build_first_append(log: Log, redactor: Redactor, run: str, first: Event, *later: Event) -> Append:
    """Build the append that creates a run; a copy may begin with a time that it waits for."""
    if not is_run(run):
        hint = "rename the workflow: use letters, digits, dots and dashes"
        raise UsageError(f"'{run}' cannot be the id of a run", next_step=hint)
    clean = tuple(redact_event(event, redactor) for event in (stamp_clock(first), *later))
    bad = next((event for event in clean if not can_read_back(event)), None)
    if bad is not None:
        raise UsageError(f"{run} cannot be started: its {bad.kind} could not be read back", next_step=GIVE_PLAIN)
    state = apply(None, clean[0], 1, log.get_blob)
    for event in clean[1:]:
        state = apply(state, event, state.seq + 1, log.get_blob)
    recorded, blobs = take_out(clean[0]) if isinstance(clean[0], RunStarted) else (clean[0], ())
    events = tuple(encode_event(event) for event in (recorded, *clean[1:]))
    timers = timers_of(replace(state, counts_from=None), state)
    return Append(run, 0, events, timers=timers, summary=summary_of(state), blobs=blobs)


def encode_plan(plan: Plan) -> bytes:
    """Serialize a plan to the bytes that are stored with its runs."""
    return rfc8785.dumps(encode(plan))


def put_calls(log: Log, calls: Mapping[str, PinnedWorkflow]) -> str:
    """Store the workflows that a run may call; return the digest, empty where it calls none."""
    if not calls:
        return ""
    content = {name: {"definition": each.definition, "plan": encode(each.plan)} for name, each in calls.items()}
    return log.put_blob(rfc8785.dumps(content))


def find_pinned_call(log: Log, calls: str, name: str) -> tuple[bytes, str] | None:
    """Return the stored plan of a workflow that was pinned to be called, and its version; None where there is none."""
    found = _read_calls(log.get_blob(calls)).get(name) if calls else None
    return None if found is None else (rfc8785.dumps(found["plan"]), str(found["definition"]))


def decode_pinned_plans(data: bytes) -> dict[str, Plan]:
    """Decode the plans of the workflows that a run may call, from the blob that they are stored in."""
    return {name: _decode_plan(rfc8785.dumps(found["plan"])) for name, found in _read_calls(data).items()}


def _read_calls(data: bytes) -> dict[str, dict[str, Any]]:
    try:
        found = {
            str(name): {"plan": each["plan"], "definition": each["definition"]}
            for name, each in json.loads(data).items()
        }
        for each in found.values():
            _decode_plan(rfc8785.dumps(each["plan"]))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        message = f"the workflows that the run may call cannot be read: {type(error).__name__}"
        raise StorageDamaged(message, next_step="start the workflow again as a new run") from error
    return found


def plan_of(log: Log, digest: str) -> Plan:
    """Read a pinned plan by the digest of its blob."""
    hint = "start the same workflow again, unchanged: that stores its plan again; then resume"
    try:
        return _decode_plan(log.get_blob(digest))
    except NotFound as error:
        message = f"the plan that the run is pinned to is missing from the log ({digest[:12]})"
        raise StorageDamaged(message, next_step=hint) from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        message = f"the plan that the run is pinned to cannot be read ({digest[:12]}): {type(error).__name__}"
        raise StorageDamaged(message, next_step="start the workflow again as a new run") from error


def require_plan(data: bytes, plan: Plan) -> None:
    """Refuse a plan whose bytes do not decode to the same plan."""
    try:
        same = _decode_plan(data) == plan
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UsageError(f"the workflow '{plan.name}' cannot be recorded: {error}", next_step=GIVE_PLAIN) from error
    if not same:
        raise UsageError(f"the workflow '{plan.name}' would not be read back unchanged", next_step=GIVE_PLAIN)


@lru_cache(maxsize=64)
def _decode_plan(data: bytes) -> Plan:
    return decode(Plan, json.loads(data))


@dataclass(slots=True)
class RootFinder:
    """Finds the run that a person started, for any run of a log; that never changes, so it is looked up once."""

    log: Log
    _known: dict[str, str] = field(default_factory=dict[str, str])

    def __call__(self, run: str) -> str:
        """Return the run that a person started: the one from which a run comes, or itself."""
        if run not in self._known:
            parent, root = find_parent_and_root(self.log, run)
            if parent is None and not self.log.last(run).seq:
                # It has not begun yet.
                return run
            self._known[run] = root
        return self._known[run]


def find_parent_and_root(log: Log, run: str) -> tuple[str | None, str]:
    """Return the parent of a run and the run that a person started, from its summary row, else from its first event."""
    for row in log.summaries(Filter(key=run)):
        return row.facts.parent, row.facts.root or run
    first = next(map(decode_event, log.read(run, limit=1)), None) if is_run(run) else None
    if not isinstance(first, RunStarted) or first.parent is None:
        return None, run
    return first.parent.run, first.root or first.parent.run

"""What a log in memory holds, and how one append changes it."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from handrail.errors import LeaseLost, MessagesWaiting, VersionConflict
from handrail.frozen import frozen
from handrail.model.history.run_lines import Row, facts_of
from handrail.ports.hash_chain import START, digest_of, link
from handrail.ports.log import (
    Append,
    Checkpoint,
    Head,
    Holder,
    Lease,
    Message,
    NewEvent,
    StoredEvent,
    TimerCleared,
    TimerSet,
)
from handrail.ports.log_care import TruncatedStream


@frozen
class StoredMessage:
    """A message, and the end of its stream when it was consumed."""

    stream: str
    message: Message
    consumed: int | None = None


@frozen
class HeldLease:
    """A lease, who has it, and through which handle."""

    lease: Lease
    holder: Holder
    handle: object


@dataclass
class State:
    """Everything that is stored; changed only while holding `lock`."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    writes: int = 0
    events: list[StoredEvent] = field(default_factory=list[StoredEvent])
    by_stream: dict[str, list[StoredEvent]] = field(default_factory=dict[str, list[StoredEvent]])
    letters: list[StoredMessage] = field(default_factory=list[StoredMessage])
    keys: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    blobs: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    epochs: dict[str, int] = field(default_factory=dict[str, int])
    held: dict[str, HeldLease] = field(default_factory=dict[str, HeldLease])
    timers: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    checkpoints: dict[str, list[Checkpoint]] = field(default_factory=dict[str, list[Checkpoint]])
    summaries: dict[str, Row] = field(default_factory=dict[str, Row])
    position: int = 0
    """The highest position that was ever assigned."""
    cut: list[StoredEvent] = field(default_factory=list[StoredEvent])
    """Events that were cut out of their streams."""

    def head(self, stream: str) -> Head:
        """Return the end of a stream."""
        events = self.by_stream.get(stream)
        return Head(events[-1].seq, events[-1].hash) if events else START

    def copy(self) -> "State":
        """Return a state that can be changed without changing this one."""
        return State(
            self.lock,
            self.writes,
            list(self.events),
            {stream: list(events) for stream, events in self.by_stream.items()},
            list(self.letters),
            set(self.keys),
            dict(self.blobs),
            dict(self.epochs),
            dict(self.held),
            dict(self.timers),
            {stream: list(each) for stream, each in self.checkpoints.items()},
            dict(self.summaries),
            self.position,
            list(self.cut),
        )

    def become(self, other: "State") -> None:
        """Take over what another state holds."""
        for name in State.__dataclass_fields__:
            setattr(self, name, getattr(other, name))


def check_leases(state: State, appends: Sequence[Append], leases: Sequence[Lease]) -> None:
    """Refuse leases that were lost or released, and appends without one."""
    for lease in leases:
        held = state.held.get(lease.stream)
        if held is None or held.lease.epoch != lease.epoch:
            raise LeaseLost(f"{lease.holder} no longer holds {lease.stream}: another process is running it now")
    streams = {lease.stream for lease in leases}
    for append in appends:
        if append.expected and append.stream not in streams:
            raise LeaseLost(f"nothing may be appended to {append.stream} without its lease")


def apply_append(state: State, append: Append) -> list[StoredEvent]:
    """Change a state by one append; when this raises, the state is left half changed and must be discarded."""
    head = state.head(append.stream)
    if head.seq != append.expected:
        raise VersionConflict(f"{append.stream} is at event {head.seq}, not at {append.expected}")
    stored = [_store(state, append.stream, event) for event in append.events]
    for message in append.consumed:
        _consume(state, append.stream, message)
    if append.if_quiet and any(each.stream == append.stream and each.consumed is None for each in state.letters):
        raise MessagesWaiting(f"{append.stream} has a message that the writer has not read")
    if append.checkpoint is not None:
        _put_checkpoint(state, append.stream, append.checkpoint)
    for timer in append.timers:
        _put_timer(state, append.stream, timer)
    if append.summary is not None:
        position = stored[-1].position if stored else state.position
        row = Row(append.stream, position, dict(append.summary), facts_of(append.stream, append.summary))
        state.summaries[append.stream] = row
    state.blobs.update({digest_of(blob): blob for blob in append.blobs})
    return stored


def _store(state: State, stream: str, event: NewEvent) -> StoredEvent:
    head = link(stream, state.head(stream), event)
    state.position += 1
    stored = StoredEvent(stream, head.seq, state.position, event.kind, event.version, event.payload, head.hash)
    state.events.append(stored)
    state.by_stream.setdefault(stream, []).append(stored)
    return stored


def _consume(state: State, stream: str, message: int) -> None:
    letter = state.letters[message - 1] if 0 < message <= len(state.letters) else None
    if letter is None or letter.consumed is not None or letter.stream != stream:
        raise VersionConflict(f"{stream} has no unconsumed message {message}")
    state.letters[message - 1] = replace(letter, consumed=state.head(stream).seq)


def cut_stream(state: State, stream: str, keep: int) -> TruncatedStream:
    """Cut the events of a stream after its first ones, with what was written beside them."""
    gone = state.by_stream.get(stream, [])[keep:]
    state.cut += gone
    state.events = [event for event in state.events if event not in gone]
    state.by_stream[stream] = state.by_stream.get(stream, [])[:keep]
    if not keep:
        del state.by_stream[stream]
    back = [each.stream == stream and (each.consumed or 0) > keep for each in state.letters]
    state.letters = [replace(each, consumed=None) if b else each for each, b in zip(state.letters, back, strict=True)]
    state.checkpoints[stream] = [each for each in state.checkpoints.get(stream, []) if each.seq <= keep]
    state.timers = {key: due for key, due in state.timers.items() if key[0] != stream}
    state.summaries.pop(stream, None)
    return TruncatedStream(stream, keep, len(gone))


def _put_checkpoint(state: State, stream: str, checkpoint: Checkpoint) -> None:
    if checkpoint.stream != stream or not 1 <= checkpoint.seq <= state.head(stream).seq:
        raise VersionConflict(f"{stream} has no event {checkpoint.seq} to take a checkpoint after")
    same = (checkpoint.seq, checkpoint.reducer)
    others = [each for each in state.checkpoints.get(checkpoint.stream, []) if (each.seq, each.reducer) != same]
    newest = sorted([*others, checkpoint], key=lambda each: (each.seq, each.reducer))
    state.checkpoints[checkpoint.stream] = newest[-2:]


def _put_timer(state: State, stream: str, timer: TimerSet | TimerCleared) -> None:
    match timer:
        case TimerSet(key, due):
            state.timers[stream, key] = due
        case TimerCleared(key):
            state.timers.pop((stream, key), None)

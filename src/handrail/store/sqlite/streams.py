"""Streams on SQLite: append, read, checkpoints, timers."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import apsw

from handrail.errors import LeaseLost, MessagesWaiting, StorageDamaged, VersionConflict
from handrail.model.history.run_lines import facts_of
from handrail.ports.hash_chain import START, intact, link, seal
from handrail.ports.log import (
    Append,
    Checkpoint,
    Doorbell,
    Head,
    Lease,
    Message,
    StoredEvent,
    Timer,
    TimerCleared,
    TimerSet,
)
from handrail.store.sqlite.blobs import write_blob
from handrail.store.sqlite.compression import pack, unpack
from handrail.store.sqlite.connection import Session, text_of
from handrail.store.sqlite.database import Database
from handrail.store.sqlite.faults import REPAIR
from handrail.store.sqlite.summaries import encode_row, write_summary

MAX_ENDS = 1_000
_Row: TypeAlias = tuple[str, int, str, int, bytes, str]
_NOTHING = Append("", 0)


class SqliteInbox:
    """Messages that others leave for a stream."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        """Leave a message; False if the stream was ever sent one with this key."""
        with self._db.reading() as session:
            if session.fetch_one("was_sent", stream, key) is not None:
                return False
        with self._db.writing("send") as session:
            return session.run("send", stream, key, payload) == 1

    def inbox(self, stream: str, limit: int | None = None) -> tuple[Message, ...]:
        """List the messages that were not consumed."""
        with self._db.reading() as session:
            rows = session.fetch_all("pending", stream, -1 if limit is None else limit)
        return tuple(Message(number, text_of(key), payload) for number, key, payload in rows)

    def pending_streams(self) -> tuple[str, ...]:
        """List the streams that have messages to consume."""
        with self._db.reading() as session:
            return tuple(text_of(row[0]) for row in session.fetch_all("pending_streams"))


class _NeedsAllChecks(Exception):
    """An append cannot take the fast path and needs all checks."""


class SqliteStreams:
    """Events in order."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._ends: dict[str, Head] = {}
        """The ends of streams as last written here, a cache: the database decides."""

    def append(self, appends: Sequence[Append], leases: Sequence[Lease]) -> tuple[StoredEvent, ...]:
        """Record all appends or none, in one transaction."""
        try:
            stored = self._append_next(appends, leases)
        except _NeedsAllChecks:
            stored = self._append_checked(appends, leases)
        self._remember(stored)
        return tuple(stored)

    def _append_next(self, appends: Sequence[Append], leases: Sequence[Lease]) -> list[StoredEvent]:
        """Append what a driver records step by step: it follows the last append, and a single check allows it."""
        append = appends[0] if len(appends) == 1 == len(leases) else _NOTHING
        end = self._ends.get(append.stream)
        if end is None or end.seq != append.expected or not (append.if_quiet and append.events) or append.consumed:
            raise _NeedsAllChecks
        if append.summary is None or append.timers or leases[0].stream != append.stream:
            raise _NeedsAllChecks
        rows, after = _chain_events(append, end)
        status, line = encode_row(append.summary)
        place = facts_of(append.stream, append.summary).repository
        with self._db.writing("append") as session:
            try:
                stored = _insert(session, rows)
            except apsw.ConstraintError as error:
                # Somebody else wrote these events.
                raise _NeedsAllChecks from error
            moved = (after.seq, after.hash, stored[-1].position, line)
            at = (append.stream, end.seq, end.hash, status, leases[0].epoch, place)
            if not session.run("move_head", *moved, *at):
                raise _NeedsAllChecks
            if append.checkpoint is not None or append.blobs:
                _write_side_records(session, append._replace(summary=None), stored)
        return stored

    def _append_checked(self, appends: Sequence[Append], leases: Sequence[Lease]) -> list[StoredEvent]:
        """Append anything, after checking everything that may forbid it."""
        stored: list[StoredEvent] = []
        with self._db.writing("append") as session:
            check_leases(session, appends, leases)
            for append in appends:
                stored += _append(session, append)
        return stored

    def _remember(self, stored: list[StoredEvent]) -> None:
        if len(self._ends) > MAX_ENDS:
            self._ends.clear()
        for event in stored[-1:]:
            self._ends[event.stream] = Head(event.seq, event.hash)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events after a sequence number, verified against the hash chain."""
        with self._db.reading() as session:
            end = head_of(session, stream)
            before = head_at(session, stream, after)
            events = rows_of(session, stream, before.seq, end.seq, limit)
        reached = intact(stream, before, events)
        wanted = end.seq - before.seq if limit is None else min(limit, end.seq - before.seq)
        at_end = reached.seq == end.seq
        if reached.seq - before.seq < wanted or (at_end and reached.hash != end.hash and wanted > 0):
            message = f"stream {stream} is damaged after event {reached.seq}: the stored data is not what was written"
            raise StorageDamaged(message, next_step=REPAIR, stream=stream, intact=reached.seq)
        return events

    def read_all(self, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events of all streams after a position."""
        with self._db.reading() as session:
            rows = session.fetch_all("read_all", after, _rows(limit))
        return tuple(StoredEvent(*row) for row in rows)

    def last(self, stream: str) -> Head:
        """Return the end of a stream."""
        with self._db.reading() as session:
            return head_of(session, stream)

    def streams(self) -> tuple[str, ...]:
        """List all streams."""
        with self._db.reading() as session:
            return tuple(text_of(row[0]) for row in session.fetch_all("streams"))

    def change_token(self) -> int:
        """Return a token that differs whenever anything was written since."""
        return self._db.change_token()

    def doorbell(self) -> Doorbell | None:
        """Give what is rung after each change by any process."""
        return self._db.hang_bell()

    def checkpoint(self, stream: str, reducer: int) -> Checkpoint | None:
        """Return the newest sound checkpoint of this reducer."""
        with self._db.reading() as session:
            rows = session.fetch_all("checkpoints", stream, reducer)
        for seq, packed, state, sealed, event_hash in rows:
            found = unpack_checkpoint(Checkpoint(stream, seq, reducer, state), packed, sealed, event_hash)
            if found is not None:
                return found
        return None

    def due(self, now: float, limit: int | None = None) -> tuple[Timer, ...]:
        """List the timers that are due."""
        with self._db.reading() as session:
            rows = session.fetch_all("due_timers", now, _rows(limit))
        return tuple(Timer(text_of(stream), text_of(key), due) for stream, key, due in rows)


def head_of(session: Session, stream: str) -> Head:
    """Return the end of a stream."""
    row = session.fetch_one("head", stream)
    return START if row is None else Head(*row)


def rows_of(session: Session, stream: str, after: int, upto: int, limit: int | None = None) -> tuple[StoredEvent, ...]:
    """Read events of a stream as they are stored, unverified."""
    wanted = (stream, after, upto, _rows(limit))
    try:
        return tuple(StoredEvent(*row) for row in session.fetch_all("read_stream", *wanted))
    except UnicodeDecodeError:
        # The hash chain shows which of them is damaged.
        return tuple(_decode_row(*row) for row in session.fetch_all("read_stream_as_bytes", *wanted))


def _decode_row(*row: Any) -> StoredEvent:
    stream, seq, position, kind, version, payload, event_hash = row
    return StoredEvent(text_of(stream), seq, position, text_of(kind), version, payload, text_of(event_hash))


def unpack_checkpoint(stored: Checkpoint, packed: int, sealed: str, event_hash: str) -> Checkpoint | None:
    """Return a stored checkpoint with its state unpacked, or None if it is not what was written."""
    state = unpack(packed, stored.state)
    if state is None:
        return None
    found = Checkpoint(stored.stream, stored.seq, stored.reducer, state)
    return found if seal(found, event_hash) == sealed else None


def _rows(limit: int | None) -> int:
    return -1 if limit is None else limit


def head_at(session: Session, stream: str, seq: int) -> Head:
    """Return the end of a stream as it was after an event."""
    if seq <= 0:
        return START
    row = session.fetch_one("event_hash", stream, seq)
    return Head(seq, str(row[0]) if row is not None else "")


def check_leases(session: Session, appends: Sequence[Append], leases: Sequence[Lease]) -> None:
    """Refuse leases that were lost or released, and appends without one."""
    for lease in leases:
        if session.fetch_one("lease_is_newest", lease.stream, lease.epoch) is None:
            raise LeaseLost(f"{lease.holder} no longer holds {lease.stream}: another process is running it now")
    held = {lease.stream for lease in leases}
    for append in appends:
        if append.expected and append.stream not in held:
            raise LeaseLost(f"nothing may be appended to {append.stream} without its lease")


def _append(session: Session, append: Append) -> list[StoredEvent]:
    head = head_of(session, append.stream)
    if head.seq != append.expected:
        raise VersionConflict(f"{append.stream} is at event {head.seq}, not at {append.expected}")
    rows, end = _chain_events(append, head)
    stored = _insert(session, rows)
    if stored:
        session.run("set_head", append.stream, end.seq, end.hash, stored[-1].position)
    for message in append.consumed:
        if session.run("consume", end.seq, message, append.stream) != 1:
            raise VersionConflict(f"{append.stream} has no unconsumed message {message}")
    if append.if_quiet and session.fetch_one("has_message", append.stream) is not None:
        raise MessagesWaiting(f"{append.stream} has a message that the writer has not read")
    _write_side_records(session, append, stored)
    return stored


def _write_side_records(session: Session, append: Append, stored: list[StoredEvent]) -> None:
    """Write what an append contains beside its events."""
    if append.checkpoint is not None:
        _put_checkpoint(session, append.stream, append.checkpoint)
    for timer in append.timers:
        _put_timer(session, append.stream, timer)
    if append.summary is not None:
        write_summary(session, append.stream, append.summary, stored)
    for blob in append.blobs:
        write_blob(session, blob)


def _chain_events(append: Append, head: Head) -> tuple[list[_Row], Head]:
    rows: list[_Row] = []
    stream = append.stream
    for event in append.events:
        head = link(stream, head, event)
        rows.append((stream, head.seq, event.kind, event.version, event.payload, head.hash))
    return rows, head


def _insert(session: Session, rows: list[_Row]) -> list[StoredEvent]:
    if not rows:
        return []
    pairs = len(rows) // 2 * 2
    for place in range(0, pairs, 2):
        session.run("append_two_events", *rows[place], *rows[place + 1])
    for row in rows[pairs:]:
        session.run("append_event", *row)
    # Nobody else writes meanwhile, so the positions are consecutive.
    first = session.raw.last_insert_rowid() - len(rows) + 1
    return [StoredEvent(row[0], row[1], first + place, *row[2:]) for place, row in enumerate(rows)]


def _put_checkpoint(session: Session, stream: str, checkpoint: Checkpoint) -> None:
    event = head_at(session, stream, checkpoint.seq)
    if checkpoint.stream != stream or checkpoint.seq < 1 or not event.hash:
        raise VersionConflict(f"{stream} has no event {checkpoint.seq} to take a checkpoint after")
    packed, state = pack(checkpoint.state)
    row = (checkpoint.stream, checkpoint.seq, checkpoint.reducer, packed, state, seal(checkpoint, event.hash))
    session.run("put_checkpoint", *row)
    session.run("prune_checkpoints", checkpoint.stream)


def _put_timer(session: Session, stream: str, timer: TimerSet | TimerCleared) -> None:
    match timer:
        case TimerSet(key, due):
            session.run("set_timer", stream, key, due)
        case TimerCleared(key):
            session.run("clear_timer", stream, key)

"""The log in memory: the same behaviour without a disk, for tests and for trying things out.

A `MemoryWorld` is the storage; each `open` returns what one process would hold of it.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from handrail.errors import NotFound
from handrail.model.history.run_lines import Filter, Row
from handrail.model.issue_records import IssueLine
from handrail.ports.hash_chain import START, digest_of, intact
from handrail.ports.log import Append, Checkpoint, Head, Holder, Lease, Message, OnPoint, StoredEvent, Timer
from handrail.ports.log_care import Finding, Report, Salvage, TruncatedStream
from handrail.store.memory.listed_rows import select_rows
from handrail.store.memory.state import HeldLease, State, StoredMessage, apply_append, check_leases, cut_stream

T = TypeVar("T")


class MemoryWorld:
    """A storage that several handles share, as processes share a database."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._state = State()
        self._clock = clock

    def open(self, on_point: OnPoint | None = None) -> "MemoryLog":
        """Open a handle as another process would have it."""
        return MemoryLog(self._state, on_point, self._clock)


class MemoryLog:
    """One process's handle on a log in memory."""

    def __init__(self, state: State, on_point: OnPoint | None, clock: Callable[[], float]) -> None:
        self._state = state
        self._on_point = on_point
        self._clock = clock

    def append(self, appends: Sequence[Append], leases: Sequence[Lease]) -> tuple[StoredEvent, ...]:
        """Record all appends or none."""
        with self._writing("append") as state:
            check_leases(state, appends, leases)
            return tuple(event for append in appends for event in apply_append(state, append))

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events after a sequence number."""
        with self._state.lock:
            return _first(self._state.by_stream.get(stream, [])[max(after, 0) :], limit)

    def read_all(self, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events of all streams after a position."""
        with self._state.lock:
            return _first([event for event in self._state.events if event.position > after], limit)

    def last(self, stream: str) -> Head:
        """Return the end of a stream."""
        with self._state.lock:
            return self._state.head(stream)

    def streams(self) -> tuple[str, ...]:
        """List all streams."""
        with self._state.lock:
            return tuple(sorted(self._state.by_stream))

    def change_token(self) -> int:
        """Return a token that differs whenever anything was written since."""
        return self._state.writes

    def doorbell(self) -> None:
        """Give nothing: whoever waits asks what has changed."""

    def checkpoint(self, stream: str, reducer: int) -> Checkpoint | None:
        """Return the newest checkpoint of this reducer."""
        with self._state.lock:
            kept = self._state.checkpoints.get(stream, [])
            return next((each for each in reversed(kept) if each.reducer == reducer), None)

    def due(self, now: float, limit: int | None = None) -> tuple[Timer, ...]:
        """List the timers that are due."""
        with self._state.lock:
            rows = sorted((due, stream, key) for (stream, key), due in self._state.timers.items() if due <= now)
        return _first([Timer(stream, key, due) for due, stream, key in rows], limit)

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        """Leave a message; False if the stream was ever sent one with this key."""
        with self._state.lock:
            if (stream, key) in self._state.keys:
                return False
            with self._writing("send") as state:
                state.keys.add((stream, key))
                state.letters.append(StoredMessage(stream, Message(len(state.letters) + 1, key, payload)))
            return True

    def inbox(self, stream: str, limit: int | None = None) -> tuple[Message, ...]:
        """List the messages that were not consumed."""
        with self._state.lock:
            rows = [each.message for each in self._state.letters if each.stream == stream and each.consumed is None]
        return _first(rows, limit)

    def pending_streams(self) -> tuple[str, ...]:
        """List the streams that have messages to consume."""
        with self._state.lock:
            return tuple(sorted({each.stream for each in self._state.letters if each.consumed is None}))

    def put_blob(self, data: bytes) -> str:
        """Store a content and return its digest."""
        digest = digest_of(data)
        with self._state.lock:
            if self._state.blobs.get(digest) is None:
                with self._writing("put_blob") as state:
                    state.blobs[digest] = data
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Read a content."""
        with self._state.lock:
            if digest not in self._state.blobs:
                raise NotFound(f"no content with digest {digest} was ever stored")
            data = self._state.blobs[digest]
        if data is None:
            raise NotFound(f"the content with digest {digest} was erased")
        return data

    def erase_blob(self, digest: str) -> bool:
        """Remove a content."""
        with self._writing("erase_blob") as state:
            known = state.blobs.get(digest) is not None
            if known:
                state.blobs[digest] = None
        return known

    def acquire(self, stream: str, holder: str) -> Lease | Holder:
        """Acquire the lease, or return who has it."""
        with self._state.lock:
            if stream in self._state.held:
                return self._state.held[stream].holder
            with self._writing("acquire") as state:
                state.epochs[stream] = state.epochs.get(stream, 0) + 1
                lease = Lease(stream, state.epochs[stream], holder)
                state.held[stream] = HeldLease(lease, Holder(holder, os.getpid(), "memory", self._clock()), self)
            return lease

    def release(self, lease: Lease) -> None:
        """Release a lease."""
        with self._state.lock:
            held = self._state.held.get(lease.stream)
            if held is not None and held.handle is self and held.lease == lease:
                with self._writing("release") as state:
                    del state.held[lease.stream]

    def holder(self, stream: str) -> Holder | None:
        """Return who holds the lease now."""
        with self._state.lock:
            held = self._state.held.get(stream)
        return None if held is None else held.holder

    def summaries(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """List the summaries by stream, newest first."""
        with self._state.lock:
            return select_rows(self._state.summaries.values(), wanted or Filter())

    def keys(self, wanted: Filter) -> tuple[str, ...]:
        """List the streams of the wanted summaries."""
        return tuple(row.key for row in self.summaries(wanted))

    def count(self, wanted: Filter) -> int:
        """Count the wanted summaries."""
        return len(self.summaries(wanted._replace(limit=None)))

    def issue_lines(self, repository: str = "", marker: str = "") -> tuple[IssueLine, ...]:
        """List the lines of issues of the local tracker."""
        with self._state.lock:
            found = [
                row.document["issue_line"] for row in self._state.summaries.values() if "issue_line" in row.document
            ]
        lines = [IssueLine._make(cast("Iterable[Any]", each)) for each in found]
        wanted = (line for line in lines if line.repository == repository) if repository else lines
        return tuple(line for line in wanted if not marker or line.marker == marker)

    def check(self) -> Report:
        """Verify the hash chain of each stream."""
        found: list[Finding] = []
        for stream in self.streams():
            reached = intact(stream, START, self.read(stream))
            if reached != self.last(stream):
                found.append(Finding("stream", stream, f"damaged after event {reached.seq}", reached.seq))
        return Report(tuple(found))

    def salvage(self) -> Salvage:
        """Do nothing: memory is not damaged."""
        return Salvage()

    def cut(self, lease: Lease, keep: int) -> TruncatedStream:
        """Cut a stream back to its first events; what is cut is stored separately."""
        with self._writing("cut") as state:
            check_leases(state, (), (lease,))
            return cut_stream(state, lease.stream, keep)

    def close(self) -> None:
        """Release the leases, as the kernel does when a process ends."""
        with self._state.lock:
            held = self._state.held.items()
            self._state.held = {stream: each for stream, each in held if each.handle is not self}

    @contextmanager
    def _writing(self, name: str) -> Generator[State]:
        # The change is made on a copy, so that a refusal or a crash at the first point leaves nothing behind.
        with self._state.lock:
            changed = self._state.copy()
            yield changed
            self._point(f"{name}.before")
            changed.writes += 1
            self._state.become(changed)
        self._point(f"{name}.after")

    def _point(self, name: str) -> None:
        if self._on_point is not None:
            self._on_point(name)


def _first(rows: Iterable[T], limit: int | None) -> tuple[T, ...]:
    return tuple(rows)[:limit]

"""The event log: streams of facts, the inbox of each, blobs, leases, timers, checkpoints and summaries.

The log knows nothing of what events mean: a kind, the version of its shape, and bytes. Calls are synchronous, and
each either happens as a whole or raises an error of `handrail.errors`. Only the holder of a stream's lease appends
to it; everybody else sends to its inbox.

A stream whose name contains a colon is not a run, but one of a kind that its prefix names. It is read and written like
any other; `summaries` leaves it out unless asked, and what drives, lists or repairs runs handles runs alone.

Values that a step creates several of, and a long history many, are named tuples, because these are created fastest.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.run_lines import Filter, Row
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.model.issue_records import IssueLine
    from handrail.ports.log_care import Report, Salvage, TruncatedStream

Document: TypeAlias = Mapping[str, JsonValue]
OnPoint: TypeAlias = Callable[[str], None]
"""Called with `<call>.before` and `<call>.after` around each commit; crash tests end the process there."""


class NewEvent(NamedTuple):
    """A fact to be recorded."""

    kind: str
    version: int
    payload: bytes


class StoredEvent(NamedTuple):
    """A recorded fact: `seq` counts in its stream from 1 without gaps, `position` increases over all streams."""

    stream: str
    seq: int
    position: int
    kind: str
    version: int
    payload: bytes
    hash: str


class Head(NamedTuple):
    """The end of a stream; `seq` is 0 for a stream that does not exist."""

    seq: int
    hash: str


@frozen
class Checkpoint:
    """The state of a stream after `seq`, as the reducer of that version computed it."""

    stream: str
    seq: int
    reducer: int
    state: bytes


@frozen
class TimerSet:
    """Wake the stream at `due`; replaces the timer of the same key."""

    key: str
    due: float


@frozen
class TimerCleared:
    """Forget a timer; no error if there is none."""

    key: str


@frozen
class Timer:
    """A timer that is set."""

    stream: str
    key: str
    due: float


class Append(NamedTuple):
    """What one stream gains in a commit: events, and everything that must become true together with them."""

    stream: str
    expected: int
    """The `seq` of the last event that the writer has seen."""
    events: tuple[NewEvent, ...] = ()
    consumed: tuple[int, ...] = ()
    """Ids of the inbox rows that these events answer."""
    checkpoint: Checkpoint | None = None
    timers: tuple[TimerSet | TimerCleared, ...] = ()
    summary: Document | None = None
    blobs: tuple[bytes, ...] = ()
    if_quiet: bool = False
    """Refuse if the inbox holds any other message, because the writer did not read it."""


@frozen
class Message:
    """A row of an inbox that was not consumed yet."""

    id: int
    key: str
    payload: bytes


@frozen
class Lease:
    """The right to append to a stream, until somebody acquires it with a higher epoch."""

    stream: str
    epoch: int
    holder: str


@frozen
class Holder:
    """Who holds a lease; `since` is for people, nothing is decided by it."""

    name: str
    pid: int
    host: str
    since: float


class Doorbell(Protocol):
    """What becomes readable when anybody has written to a log."""

    def fileno(self) -> int:
        """Give the descriptor to wait for."""
        ...

    def answer(self) -> None:
        """Take note of all who rang: it is readable again after the next change."""
        ...

    def close(self) -> None:
        """Listen no more."""
        ...


class Streams(Protocol):
    """Facts in order."""

    def append(self, appends: Sequence[Append], leases: Sequence[Lease]) -> tuple[StoredEvent, ...]:
        """Record all or nothing; a stream needs its lease among `leases` unless it begins here (`expected` 0)."""
        ...

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events after a `seq`, verified against the chain; `StorageDamaged` says how many are intact."""
        ...

    def read_all(self, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Read the events of all streams after a position, in the order in which they were committed."""
        ...

    def last(self, stream: str) -> Head:
        """Return the end of a stream."""
        ...

    def streams(self) -> tuple[str, ...]:
        """List all streams, sorted."""
        ...

    def change_token(self) -> int:
        """Return a token that differs whenever anything was written since, by any process; costs microseconds."""
        ...

    def doorbell(self) -> Doorbell | None:
        """Give what is rung after each change, which is closed with the log; None where nobody rings.

        Then `change_token` has to be asked.
        """
        ...

    def checkpoint(self, stream: str, reducer: int) -> Checkpoint | None:
        """Return the newest sound checkpoint that this version of the reducer wrote; the last two are retained."""
        ...

    def due(self, now: float, limit: int | None = None) -> tuple[Timer, ...]:
        """List the timers that are due, the earliest first."""
        ...


class Inbox(Protocol):
    """Messages that others leave for a stream."""

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        """Leave a message; False if the stream was ever sent one with this key."""
        ...

    def inbox(self, stream: str, limit: int | None = None) -> tuple[Message, ...]:
        """List the messages that were not consumed, in the order in which they arrived."""
        ...

    def pending_streams(self) -> tuple[str, ...]:
        """List the streams that have messages to consume, sorted."""
        ...


class Blobs(Protocol):
    """Large contents, named by their SHA-256 digest."""

    def put_blob(self, data: bytes) -> str:
        """Store a content and return its digest."""
        ...

    def get_blob(self, digest: str) -> bytes:
        """Read a content and verify it; raises `NotFound` if it was never stored or was erased."""
        ...

    def erase_blob(self, digest: str) -> bool:
        """Remove a content from the disk; events that name it stay valid. False if there is nothing to erase."""
        ...


class Leases(Protocol):
    """Who may append to which stream."""

    def acquire(self, stream: str, holder: str) -> Lease | Holder:
        """Acquire the lease, or return who has it. It ends with `release`, `close` or the process, never with time."""
        ...

    def release(self, lease: Lease) -> None:
        """Release a lease; one that was already lost is ignored."""
        ...

    def holder(self, stream: str) -> Holder | None:
        """Return who holds the lease now."""
        ...


class Summaries(Protocol):
    """The entry of each stream in lists; it can be thrown away and rebuilt from the events."""

    def summaries(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """List what appends wrote as `Append.summary`, by stream."""
        ...

    def keys(self, wanted: Filter) -> tuple[str, ...]:
        """List the streams of the wanted summaries, without reading their content."""
        ...

    def count(self, wanted: Filter) -> int:
        """Count the wanted summaries, whatever the limit."""
        ...

    def issue_lines(self, repository: str = "", marker: str = "") -> "tuple[IssueLine, ...]":
        """List what summaries have as `issue_line`: of a repository, of a marker, of both, or all of them."""
        ...


class Log(Streams, Inbox, Blobs, Leases, Summaries, Protocol):
    """The whole log, as one process holds it."""

    def check(self) -> "Report":
        """Verify everything that is stored."""
        ...

    def salvage(self) -> "Salvage":
        """Cut each damaged stream back to its intact events; what is cut is stored separately."""
        ...

    def cut(self, lease: Lease, keep: int) -> "TruncatedStream":
        """Cut a stream back to its first events, as a salvage does; for damage that only its reader can detect."""
        ...

    def close(self) -> None:
        """Release the leases and close the storage."""
        ...

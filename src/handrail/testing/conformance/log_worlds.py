"""The building blocks of the log's conformance suite."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from handrail.errors import HandrailError
from handrail.ports.log import Append, Holder, Lease, Log, NewEvent, StoredEvent


class LogWorld(Protocol):
    """A storage; each `open` returns the handle that one process would have on it."""

    def open(self) -> Log:
        """Return a new handle."""
        ...


class MissingRefusal(AssertionError):
    """A log allowed something that it must refuse."""


@contextmanager
def handle(world: LogWorld) -> Generator[Log]:
    """Open a handle, and close it afterwards."""
    log = world.open()
    try:
        yield log
    finally:
        log.close()


@contextmanager
def refusing(kind: type[HandrailError]) -> Generator[None]:
    """Expect the log to refuse with this kind of error."""
    try:
        yield
    except kind:
        return
    raise MissingRefusal(f"expected {kind.__name__}")


def event(text: str, kind: str = "noted") -> NewEvent:
    """Build an event with this text."""
    return NewEvent(kind, 1, text.encode())


def leased(log: Log, stream: str, holder: str = "tester") -> Lease:
    """Acquire a lease that nobody else holds."""
    lease = log.acquire(stream, holder)
    if isinstance(lease, Holder):
        raise AssertionError(f"{stream} is held by {lease.name}")
    return lease


def record(log: Log, lease: Lease, *texts: str) -> tuple[StoredEvent, ...]:
    """Append events with these texts at the end of the stream."""
    end = log.last(lease.stream).seq
    return log.append([Append(lease.stream, end, tuple(event(text) for text in texts))], [lease])


def texts_of(log: Log, stream: str) -> list[str]:
    """Return the texts of a stream's events."""
    return [each.payload.decode() for each in log.read(stream)]

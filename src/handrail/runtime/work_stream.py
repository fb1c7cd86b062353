"""Reads and writes the facts of the work on an issue, under the lease of their stream."""

import asyncio
import json
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from handrail.engine.issues.work_state import WorkState, fold_work
from handrail.errors import LogConflict, StorageDamaged, StorageTooNew
from handrail.model.codec import decode, encode
from handrail.model.history.issue_work import STREAM, VERSION, IssueFact
from handrail.model.issues import IssueRef
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Append, Holder, Lease, Log, NewEvent, StoredEvent, TimerCleared, TimerSet

POLL = "poll"
"""The key of the timer at which comments are looked for."""
PATIENCE = 10.0
"""Seconds for which another process may hold the lease; it never holds it while it waits for a service."""
_INTERVAL = 0.01


def stream_of(ref: IssueRef) -> str:
    """Return the stream of the work on an issue."""
    return f"{STREAM}{ref}"


def read_work(log: Log, ref: IssueRef) -> WorkState:
    """Read what is known about the work on an issue."""
    return fold_work(map(_decode, log.read(stream_of(ref))))


def _decode(stored: StoredEvent) -> IssueFact:
    if stored.version > VERSION:
        message = f"{stored.stream} was written by a newer version of Handrail"
        raise StorageTooNew(message, next_step="update Handrail")
    try:
        return cast("IssueFact", decode(cast("type[Any]", IssueFact), json.loads(stored.payload)))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        message = f"{stored.stream} cannot be read: event {stored.seq} ({stored.kind}): {error}"
        hint = "restore the data folder from a backup"
        raise StorageDamaged(message, next_step=hint, stream=stored.stream, intact=stored.seq - 1) from error


@dataclass(slots=True)
class WorkLedger:
    """The work on an issue, while this process holds its lease."""

    log: Log
    ref: IssueRef
    lease: Lease
    redactor: Redactor
    state: WorkState

    def record(self, *facts: IssueFact, poll_at: float | None = None, clear_poll: bool = False) -> None:
        """Record facts, and when to look for comments next, in one commit."""
        events = tuple(NewEvent(each.kind, VERSION, self._payload(each)) for each in facts)
        timers: tuple[TimerSet | TimerCleared, ...] = () if poll_at is None else (TimerSet(POLL, poll_at),)
        timers = (TimerCleared(POLL),) if clear_poll else timers
        if events or timers:
            self.log.append([Append(stream_of(self.ref), self.state.seq, events, timers=timers)], [self.lease])
            self.state = fold_work(facts, self.state)

    def _payload(self, fact: IssueFact) -> bytes:
        return self.redactor.data(json.dumps(encode(fact)).encode())


@contextmanager
def hold_work(log: Log, ref: IssueRef, redactor: Redactor, name: str = "handrail") -> Generator[WorkLedger]:
    """Hold the lease of the work on an issue, and wait a while for another process that holds it."""
    until = time.monotonic() + PATIENCE
    while isinstance(lease := log.acquire(stream_of(ref), name), Holder):
        if time.monotonic() > until:
            message = f"process {lease.pid} has been writing about the issue {ref} for {PATIENCE:g} seconds"
            raise LogConflict(message, next_step="try again")
        time.sleep(_INTERVAL)
    try:
        yield WorkLedger(log, ref, lease, redactor, read_work(log, ref))
    finally:
        log.release(lease)


async def record_work(log: Log, ref: IssueRef, redactor: Redactor, *facts: IssueFact) -> bool:
    """Record facts about the work on an issue; False if another process holds its lease for too long."""
    return await update_work(log, ref, redactor, lambda ledger: ledger.record(*facts))


async def update_work(log: Log, ref: IssueRef, redactor: Redactor, change: Callable[[WorkLedger], None]) -> bool:
    """Change the work on an issue without blocking the loop; False if another process holds it for too long."""
    for _ in range(int(PATIENCE / _INTERVAL)):
        lease = log.acquire(stream_of(ref), "handrail")
        if isinstance(lease, Holder):
            await asyncio.sleep(_INTERVAL)
            continue
        try:
            change(WorkLedger(log, ref, lease, redactor, read_work(log, ref)))
        finally:
            log.release(lease)
        return True
    return False

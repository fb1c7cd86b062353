"""Leases: a kernel lock says who holds one, an epoch in the database excludes whoever held it before."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from handrail.errors import StorageFault
from handrail.late_import import late_import
from handrail.ports.log import Holder, Lease
from handrail.store.kernel_locks import KernelLocks
from handrail.store.sqlite.database import Database
from handrail.store.sqlite.faults import translate_faults

if TYPE_CHECKING:
    import socket
else:
    socket = late_import("socket")


class SqliteLeases:
    """Who may append to which stream."""

    def __init__(self, database: Database, locks: KernelLocks, clock: Callable[[], float]) -> None:
        self._db = database
        self._locks = locks
        self._clock = clock
        self._leases: dict[str, Lease] = {}

    def acquire(self, stream: str, holder: str) -> Lease | Holder:
        """Acquire the lease, or return who has it."""
        me = Holder(holder, os.getpid(), socket.gethostname(), self._clock())
        with translate_faults(self._db.path):
            other = self._locks.take(stream, me)
        if other is not None:
            return other
        try:
            # Only whoever has the lock may raise the epoch, so the lock comes first.
            with self._db.passing("acquire") as session:
                epoch = session.fetch_number("raise_epoch", stream)
        except BaseException:
            self._locks.free(stream)
            raise
        self._leases[stream] = Lease(stream, epoch, holder)
        return self._leases[stream]

    def release(self, lease: Lease) -> None:
        """Release a lease."""
        if self._leases.get(lease.stream) != lease or not self._locks.holds(lease.stream):
            return
        try:
            with self._db.passing("release") as session:
                session.run("release_lease", lease.stream, lease.epoch)
        finally:
            # On a full disk the database cannot record it, but the next one to acquire raises the epoch anyway.
            del self._leases[lease.stream]
            with translate_faults(self._db.path):
                self._locks.free(lease.stream)

    def release_all(self) -> None:
        """Release every lease that this handle holds, even if the database cannot record it."""
        for lease in list(self._leases.values()):
            with suppress(StorageFault):
                self.release(lease)

    def holder(self, stream: str) -> Holder | None:
        """Return who holds the lease now."""
        with translate_faults(self._db.path):
            return self._locks.holder(stream)

"""The log on SQLite, opened in a folder of its own."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import StorageDamaged, StorageFault, StorageFull, StorageRefused
from handrail.late_import import late_import
from handrail.ports.log import Lease, OnPoint
from handrail.store.kernel_locks import KernelLocks
from handrail.store.sqlite.blobs import SqliteBlobs
from handrail.store.sqlite.database import BUSY_MS, FILE, Database, schema_version
from handrail.store.sqlite.faults import translate_faults
from handrail.store.sqlite.leases import SqliteLeases
from handrail.store.sqlite.statements import migrations
from handrail.store.sqlite.streams import SqliteInbox, SqliteStreams
from handrail.store.sqlite.summaries import SqliteSummaries

if TYPE_CHECKING:
    from handrail.ports import log_care
    from handrail.ports.log_care import Report, Salvage, TruncatedStream
    from handrail.store.sqlite import doctor as sqlite_doctor
    from handrail.store.sqlite import rebuild
else:
    log_care = late_import("handrail.ports.log_care")
    sqlite_doctor = late_import("handrail.store.sqlite.doctor")
    rebuild = late_import("handrail.store.sqlite.rebuild")


class SqliteLog(SqliteStreams, SqliteInbox, SqliteBlobs, SqliteLeases, SqliteSummaries):
    """A log that many processes share; each part is in the file of its base class."""

    def __init__(self, database: Database, locks: KernelLocks, clock: Callable[[], float]) -> None:
        SqliteStreams.__init__(self, database)
        SqliteLeases.__init__(self, database, locks, clock)

    def check(self) -> "Report":
        """Verify everything that is stored."""
        return sqlite_doctor.check(self._db)

    def salvage(self) -> "Salvage":
        """Cut each damaged stream back to its intact events; a damaged file is copied aside and rebuilt first.

        No other thread may use this handle meanwhile; other processes may.
        """
        with self._db.reading() as session:
            broken = sqlite_doctor.file_problems(session)
        copy = _rebuilt(self._db, self._locks) if broken else None
        try:
            done = sqlite_doctor.cut_damage(self._db)
        except StorageDamaged:
            # A text that is no longer valid, which SQLite itself does not check.
            copy = copy or _rebuilt(self._db, self._locks)
            done = sqlite_doctor.cut_damage(self._db)
        return log_care.Salvage(done.cuts, copy, done.left)

    def cut(self, lease: Lease, keep: int) -> "TruncatedStream":
        """Cut a stream back to its first events; what is cut is stored separately."""
        self._ends.pop(lease.stream, None)
        return sqlite_doctor.cut_stream(self._db, lease, keep)

    def close(self) -> None:
        """Release the leases and close the file."""
        self.release_all()
        self._db.close()


def open_log(
    folder: Path,
    *,
    on_point: OnPoint | None = None,
    clock: Callable[[], float] = time.time,
    busy_ms: int = BUSY_MS,
) -> SqliteLog:
    """Open the log in a folder, which is created if it does not exist."""
    database, locks = _prepare(folder, on_point, busy_ms)
    try:
        with locks.gate():
            database.prepare()
        locks.sweep()
    except BaseException:
        # Whoever holds the error holds everything that was open when it was raised.
        database.close()
        raise
    return SqliteLog(database, locks, clock)


def open_readable(folder: Path) -> SqliteLog:
    """Open the log in a folder; if nothing can be written, for reading only: writing then raises the reason."""
    try:
        return open_log(folder)
    except (StorageFull, StorageRefused) as fault:
        database = Database(folder / FILE)
        database.refused = fault
        # A log that does not exist, or that an older version wrote, has to be written before it can be read.
        if not _is_current(database):
            database.close()
            raise
        return SqliteLog(database, KernelLocks(folder / "locks"), time.time)


def _is_current(database: Database) -> bool:
    try:
        with database.reading() as session:
            return schema_version(session) == len(migrations())
    except (StorageFault, OSError):
        return False


def salvage_folder(folder: Path) -> "Salvage":
    """Salvage a log that may be too damaged to be opened."""
    copy = None
    try:
        log = open_log(folder)
    except StorageDamaged:
        copy = _rebuilt(*_prepare(folder, None, BUSY_MS))
        log = open_log(folder)
    try:
        done = log.salvage()
    finally:
        log.close()
    return log_care.Salvage(done.cuts, done.copy or copy, done.left)


def _prepare(folder: Path, on_point: OnPoint | None, busy_ms: int) -> tuple[Database, KernelLocks]:
    path = folder / FILE
    with translate_faults(path):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "locks").mkdir(mode=0o700, exist_ok=True)
        # SQLite creates the files beside it with the same mode. It is only created here, never opened: closing a file
        # of the database outside of SQLite would release the locks that other connections of this process hold on it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        locks = KernelLocks(folder / "locks")
        with locks.gate():
            pass
    return Database(path, on_point, busy_ms), locks


def _rebuilt(database: Database, locks: KernelLocks) -> str:
    database.close()
    with translate_faults(database.path), locks.gate():
        return str(rebuild.rebuild(database.path))

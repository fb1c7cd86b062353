"""The list of runs, read without the rest of the log: for commands that only show it and must start fast."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from handrail.model.history.run_lines import Filter, Row
from handrail.ports.run_list import NeedsWholeLog
from handrail.store.kernel_locks import KernelLocks
from handrail.store.sqlite.compression import unpack
from handrail.store.sqlite.connection import FILE, Session
from handrail.store.sqlite.statements import migrations
from handrail.store.sqlite.summaries import count_rows, select_rows

if TYPE_CHECKING:
    from handrail.ports.log import Holder

BUSY_MS = 5_000


class SqliteRunList:
    """A short view of the runs in the log."""

    def __init__(self, session: Session, locks: KernelLocks) -> None:
        self._session = session
        self._locks = locks

    def rows(self, wanted: Filter) -> tuple[Row, ...]:
        """Return the wanted summaries."""
        return select_rows(self._session, wanted)

    def count(self, wanted: Filter) -> int:
        """Count the wanted runs."""
        return count_rows(self._session, wanted)

    def holder(self, run: str) -> "Holder | None":
        """Return which process drives a run."""
        return self._locks.holder(run)

    def content(self, digest: str) -> bytes | None:
        """Read a content by its digest, without verifying it."""
        row = self._session.fetch_one("get_blob", digest)
        return None if row is None or row[1] is None else unpack(row[0], row[1])


@contextmanager
def run_list(folder: Path) -> Generator[SqliteRunList]:
    """Open the list in a folder."""
    try:
        session = Session(folder / FILE, BUSY_MS)
    except apsw.Error as error:
        raise NeedsWholeLog from error
    try:
        (version,) = session.execute("PRAGMA user_version").fetchall()[0]
        if version != len(migrations()):
            raise NeedsWholeLog
        yield SqliteRunList(session, KernelLocks(folder / "locks"))
    except (apsw.Error, OSError, ValueError) as error:
        raise NeedsWholeLog from error
    finally:
        session.raw.close()

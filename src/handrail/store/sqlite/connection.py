"""A typed connection to SQLite: statements by name, values in, rows out."""

from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import apsw

from handrail.store.sqlite.statements import statements

FILE = "handrail.db"
DURABLE = "PRAGMA synchronous = FULL"
SHORT_WAL = "PRAGMA wal_autocheckpoint = 250"
"""Pages until the write-ahead log starts over: overwriting it syncs faster than extending a file."""
Value: TypeAlias = str | bytes | int | float | None
Fields: TypeAlias = tuple[Any, ...]
"""The columns of a row; the statement determines their types, and STRICT tables enforce them."""


class _Rows(Protocol):
    def fetchall(self) -> list[Fields]: ...

    def fetchone(self) -> Fields | None: ...


class _Execute(Protocol):
    def __call__(self, statements: str, bindings: tuple[Value, ...] = ()) -> _Rows: ...


class Session:
    """One connection; belongs to one thread."""

    def __init__(self, path: Path, busy_ms: int, flags: int = apsw.SQLITE_OPEN_READWRITE) -> None:
        self.raw = apsw.Connection(str(path), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
        self.raw.set_busy_timeout(busy_ms)
        # The types that apsw declares use a name that Python 3.11 does not have.
        untyped = cast("Any", self.raw)
        self.execute: _Execute = untyped.execute
        # Statements without rows share a cursor: a new one for each would take a tenth of their time.
        self.perform: _Execute = untyped.cursor().execute
        self._sql = statements()
        try:
            self.execute(DURABLE)
            self.execute(SHORT_WAL)
        except BaseException:
            self.raw.close()
            raise

    def run(self, name: str, *values: Value) -> int:
        """Run a statement that returns no rows, and return how many it changed."""
        self.perform(self._sql[name], values)
        return self.raw.changes()

    def fetch_all(self, name: str, *values: Value) -> list[Fields]:
        """Return all rows of a statement."""
        return self.execute(self._sql[name], values).fetchall()

    def fetch_one(self, name: str, *values: Value) -> Fields | None:
        """Return the first row of a statement."""
        return self.execute(self._sql[name], values).fetchone()

    def fetch_number(self, name: str, *values: Value) -> int:
        """Return the single number that a statement selects."""
        return int(self.fetch_all(name, *values)[0][0])


def open_checked(path: Path, busy_ms: int, flags: int = apsw.SQLITE_OPEN_READWRITE) -> Session:
    """Open a database and check that its list of tables can be read; on failure nothing stays open."""
    session = Session(path, busy_ms, flags)
    try:
        session.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        session.raw.close()
        raise
    return session


def text_of(stored: bytes) -> str:
    """Decode a text that a statement returns as bytes, so that one damaged row does not affect the others."""
    return stored.decode("utf-8", "replace")

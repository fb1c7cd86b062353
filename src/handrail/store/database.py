"""One SQLite file: a connection per thread, transactions that name their commit points, faults that say what to do."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

import apsw

from handrail.errors import StorageTooNew
from handrail.ports.log import OnPoint
from handrail.store.faults import of_sqlite, of_text
from handrail.store.session import DURABLE, FILE, Session
from handrail.store.statements import migrations

BUSY_MS = 30_000

__all__ = ["BUSY_MS", "FILE", "Database", "migrate", "schema_version", "sqlite_version"]


def sqlite_version() -> str:
    """Say which SQLite keeps the log."""
    return apsw.sqlite_lib_version()


class Database:
    """The file and everything that this process has open of it."""

    def __init__(self, path: Path, on_point: OnPoint | None = None, busy_ms: int = BUSY_MS) -> None:
        self.path = path
        self._on_point = on_point
        self._busy_ms = busy_ms
        self._mine = _OfThread()
        self._all: WeakSet[Session] = WeakSet()
        self._watch_lock = threading.Lock()
        self._watch: Session | None = None
        self._process = os.getpid()
        self._inherited: list[Session] = []

    @contextmanager
    def reading(self) -> Generator[Session]:
        """Give the connection of this thread; what SQLite refuses becomes a `StorageFault`."""
        session: Session | None = None
        try:
            session = self._session()
            yield session
        except apsw.Error as error:
            raise of_sqlite(error, self.path, session.raw.system_errno if session else 0) from error
        except UnicodeDecodeError as error:
            raise of_text(error, self.path) from error

    @contextmanager
    def passing(self, name: str) -> Generator[Session]:
        """Run a transaction about this moment's processes: a power cut, which ends them all, may take it back."""
        with self.reading() as session:
            session.execute("PRAGMA synchronous = NORMAL")
            try:
                with self.writing(name):
                    yield session
            finally:
                session.execute(DURABLE)

    @contextmanager
    def writing(self, name: str) -> Generator[Session]:
        """Run a transaction; it is durable when this returns, and leaves nothing behind when anything raises."""
        with self.reading() as session:
            session.execute("BEGIN IMMEDIATE")
            try:
                yield session
                self._point(f"{name}.before")
                session.execute("COMMIT")
            except BaseException:
                # SQLite ends some failed transactions by itself, and a full disk may refuse the rollback too.
                with suppress(apsw.Error):
                    if session.raw.in_transaction:
                        session.execute("ROLLBACK")
                raise
            self._point(f"{name}.after")

    def changed(self) -> int:
        """Give a number that differs once any connection of any process has written."""
        with self.reading(), self._watch_lock:
            # A connection of its own that never writes: it also sees what the other connections here write.
            if self._watch is None:
                self._watch = self._connect()
            return self._watch.number("changed")

    @contextmanager
    def snapshot(self) -> Generator[Session]:
        """Let everything that is read inside be of one moment."""
        with self.reading() as session:
            session.execute("BEGIN")
            try:
                yield session
            finally:
                with suppress(apsw.Error):
                    session.execute("ROLLBACK")

    def prepare(self) -> None:
        """Bring the file to the schema of this version; only one process may do this at a time."""
        with self.reading() as session:
            session.execute("PRAGMA journal_mode = WAL")
            migrate(session, self.path)

    def close(self) -> None:
        """Close all connections; the next call opens them again."""
        self._notice_fork()
        self._watch = None
        self._mine = _OfThread()
        for session in list(self._all):
            session.raw.close()

    def _point(self, name: str) -> None:
        if self._on_point is not None:
            self._on_point(name)

    def _session(self) -> Session:
        self._notice_fork()
        mine = self._mine
        if mine.session is None:
            mine.session = self._connect()
        return mine.session

    def _notice_fork(self) -> None:
        if self._process != os.getpid():
            # The parent's connections are kept and left alone: closing them here could disturb the parent.
            self._inherited += self._all
            self._process, self._watch, self._watch_lock = os.getpid(), None, threading.Lock()
            self._mine, self._all = _OfThread(), WeakSet()

    def _connect(self) -> Session:
        session = Session(self.path, self._busy_ms)
        self._all.add(session)
        return session


class _OfThread(threading.local):
    session: Session | None = None


def migrate(session: Session, path: Path, upto: int | None = None) -> None:
    """Apply the migrations that a database lacks, each in a transaction of its own."""
    scripts = migrations()
    version = schema_version(session)
    if version > len(scripts):
        message = f"the log in {path} has format {version}, and this Handrail knows formats up to {len(scripts)}"
        raise StorageTooNew(message, next_step="install the newest Handrail: pip install --upgrade handrail")
    for number, script in enumerate(scripts[:upto], start=1):
        if number > version:
            _apply(session, f"{script}\nPRAGMA user_version = {number};")


def _apply(session: Session, script: str) -> None:
    session.execute("BEGIN IMMEDIATE")
    try:
        session.execute(script).fetchall()
        session.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            session.execute("ROLLBACK")
        raise


def schema_version(session: Session) -> int:
    """Give the number of the last migration that was applied."""
    return int(session.execute("PRAGMA user_version").fetchall()[0][0])

"""One SQLite file: a connection per thread, transactions with named commit points, faults that say what to do."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import apsw

from handrail.errors import StorageFault, StorageTooNew, UsageError
from handrail.late_import import late_import
from handrail.ports.log import OnPoint
from handrail.store.doorbells import Doorbell, Doorbells
from handrail.store.sqlite.connection import DURABLE, FILE, Session
from handrail.store.sqlite.faults import translate_sqlite_error, translate_text_error
from handrail.store.sqlite.statements import migrations

if TYPE_CHECKING:
    from handrail.store.sqlite import read_only
else:
    read_only = late_import("handrail.store.sqlite.read_only")

BUSY_MS = 30_000

__all__ = ["BUSY_MS", "FILE", "Database", "migrate", "schema_version", "sqlite_version"]

_forks = 0
"""How many forks lie between the first process and this one; cheaper than a system call at every step."""


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - one number for the process
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def sqlite_version() -> str:
    """Return the version of SQLite."""
    return apsw.sqlite_lib_version()


class Database:
    """The database file and everything that this process has open of it."""

    def __init__(self, path: Path, on_point: OnPoint | None = None, busy_ms: int = BUSY_MS) -> None:
        self.path = path
        self._on_point = on_point
        self._busy_ms = busy_ms
        self._mine = _ThreadState()
        self._all: WeakSet[Session] = WeakSet()
        self._watch_lock = threading.Lock()
        self._watch: Session | None = None
        self._process = _forks
        self._inherited: list[Session] = []
        self.bells = Doorbells(path.parent)
        self._hung: WeakSet[Doorbell] = WeakSet()
        self.refused: StorageFault | None = None
        """Why nothing can be written, if the database is only read."""

    def reading(self) -> "_Reading":
        """Return the connection of this thread; what SQLite refuses becomes a `StorageFault`."""
        return _Reading(self)

    @contextmanager
    def passing(self, name: str) -> Generator[Session]:
        """Run a transaction about currently running processes: a power cut, which ends them all, may undo it."""
        self.require_writable()
        with self.reading() as session:
            session.execute("PRAGMA synchronous = NORMAL")
            try:
                with self.writing(name):
                    yield session
            finally:
                session.execute(DURABLE)

    def writing(self, name: str) -> "_Writing":
        """Run a transaction; it is durable when this returns, and leaves nothing behind when anything raises."""
        return _Writing(self, name)

    def change_token(self) -> int:
        """Return a number that differs once any connection of any process has written."""
        with self.reading(), self._watch_lock:
            # A separate connection that never writes also sees what the other connections of this process write.
            if self._watch is None:
                self._watch = self._connect()
            return self._watch.fetch_number("changed")

    def hang_bell(self) -> Doorbell | None:
        """Give a bell that is rung after each transaction of any process; None where nothing can be written."""
        bell = None if self.refused is not None else self.bells.hang()
        if bell is not None:
            self._hung.add(bell)
        return bell

    @contextmanager
    def snapshot(self) -> Generator[Session]:
        """Read everything inside from one consistent snapshot."""
        with self.reading() as session:
            session.execute("BEGIN")
            try:
                yield session
            finally:
                with suppress(apsw.Error):
                    session.execute("ROLLBACK")

    def prepare(self) -> None:
        """Migrate the file to the schema of this version; only one process may do this at a time."""
        with self.reading() as session:
            session.execute("PRAGMA journal_mode = WAL")
            migrate(session, self.path)

    def require_writable(self) -> None:
        """Try to reopen for writing a database that was only read; raise why it cannot be written."""
        if self.refused is None:
            return
        before, self.refused = self.refused, None
        self.close()
        try:
            self.prepare()
        except StorageFault as fault:
            self.close()
            # The first fault was found by more than SQLite, and says more.
            self.refused = before if type(before) is type(fault) else fault
            raise self.refused from fault

    def close(self) -> None:
        """Close all connections; the next call opens them again."""
        self._notice_fork()
        self._watch = None
        self._mine = _ThreadState()
        for bell in list(self._hung):
            bell.close()
        for session in list(self._all):
            session.raw.close()

    def point(self, call: str, moment: str) -> None:
        """Report that a commit is about to be made, or was made."""
        if self._on_point is not None:
            self._on_point(f"{call}.{moment}")

    def session(self) -> Session:
        """Return the connection of this thread."""
        self._notice_fork()
        mine = self._mine
        if mine.session is None:
            mine.session = self._connect()
        return mine.session

    def _notice_fork(self) -> None:
        if self._process != _forks:
            # The parent's connections stay referenced but untouched: closing them here could disturb the parent.
            self._inherited += self._all
            self._process, self._watch, self._watch_lock = _forks, None, threading.Lock()
            self._mine, self._all = _ThreadState(), WeakSet()

    def _connect(self) -> Session:
        readable = self.refused is not None
        session = read_only.open_read_only(self.path) if readable else Session(self.path, self._busy_ms)
        self._all.add(session)
        return session


class _Reading:
    """Translates errors; a class, since a generator would take a good part of the time of a step."""

    __slots__ = ("_database", "_opened")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._opened: Session | None = None

    def __enter__(self) -> Session:
        try:
            self._opened = self._database.session()
        except apsw.Error as error:
            raise translate_sqlite_error(error, self._database.path, 0) from error
        return self._opened

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self._name(error)

    def _name(self, error: BaseException) -> None:
        if isinstance(error, apsw.Error):
            raise translate_sqlite_error(
                error, self._database.path, self._opened.raw.system_errno if self._opened else 0
            ) from error
        if isinstance(error, UnicodeDecodeError):
            raise translate_text_error(error, self._database.path) from error
        if isinstance(error, UnicodeEncodeError | OverflowError):
            raise UsageError(
                f"the log cannot store this value: {error}", next_step="pass a valid text or number"
            ) from error


class _Writing(_Reading):
    """Begins a transaction, and commits it or rolls it back."""

    __slots__ = ("_call",)

    def __init__(self, database: Database, call: str) -> None:
        super().__init__(database)
        self._call = call

    def __enter__(self) -> Session:
        self._database.require_writable()
        session = super().__enter__()
        try:
            session.perform("BEGIN IMMEDIATE")
        except apsw.Error as error:
            self._name(error)
            raise
        return session

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        database, session = self._database, self._opened
        if error is None and session is not None:
            try:
                database.point(self._call, "before")
                session.perform("COMMIT")
            except BaseException as refused:
                self._take_back()
                self._name(refused)
                raise
            database.bells.ring()
            database.point(self._call, "after")
            return
        self._take_back()
        super().__exit__(_kind, error, _trace)

    def _take_back(self) -> None:
        # SQLite ends some failed transactions itself, and a full disk may refuse the rollback too.
        with suppress(apsw.Error):
            if self._opened is not None and self._opened.raw.in_transaction:
                self._opened.perform("ROLLBACK")


class _ThreadState(threading.local):
    session: Session | None = None


def migrate(session: Session, path: Path, upto: int | None = None) -> None:
    """Apply the migrations that a database lacks, each in a transaction of its own."""
    scripts = migrations()
    version = schema_version(session)
    if version > len(scripts):
        message = (
            f"the log in {path} has format {version}, but this Handrail supports only formats up to {len(scripts)}"
        )
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
    """Return the number of the last migration that was applied."""
    return int(session.execute("PRAGMA user_version").fetchall()[0][0])

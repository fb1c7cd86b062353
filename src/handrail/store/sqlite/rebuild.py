"""Rebuilds a damaged database file: copies it aside, queries the copy for every row, puts back what can be read."""

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

import apsw

from handrail.store.sqlite.connection import Session, open_checked
from handrail.store.sqlite.database import BUSY_MS, migrate
from handrail.store.sqlite.statements import migrations

TABLES = (
    "streams", "events", "damaged", "inbox", "blobs", "leases", "timers", "checkpoints", "projections", "documents",
    "issues",
)  # fmt: skip
ROWS_PER_PAGE = 512
"""More rows than fit into a page: bounds the search when a damaged table does not reveal its last row."""

# Offsets in the header of a SQLite file: its write and read versions, `user_version`, and the change counter for which
# its page count is valid (zero: never).
MODE, VERSION, AGREED = 18, 60, 92
WAL = b"\x02\x02"
FIRST_PAGE = 4096
"""The size of the page that also lists the tables."""


def rebuild(path: Path) -> Path:
    """Replace a damaged database with a sound one, and return the copy of what was found."""
    copy, scratch, fresh = _free_name(path), _add_suffix(path, ".scratch"), _add_suffix(path, ".rebuilt")
    _remove(scratch, fresh)
    try:
        # Two copies: SQLite may change the one it reads, and the other stays as it was found.
        _copy(path, copy)
        _copy(path, scratch)
        _recover(scratch, fresh)
    except BaseException:
        _remove(copy, scratch, fresh)
        raise
    _put_back(fresh, path)
    _remove(scratch, fresh)
    return copy


def _free_name(path: Path) -> Path:
    number = 1
    while (free := _add_suffix(path, f".damaged-{number}")).exists():
        number += 1
    return free


def _add_suffix(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _copy(path: Path, target: Path) -> None:
    # Not the -shm file: it is only an index of the -wal file, and SQLite creates it again.
    for suffix in ("", "-wal"):
        if _add_suffix(path, suffix).exists():
            shutil.copy2(_add_suffix(path, suffix), _add_suffix(target, suffix))


def _remove(*paths: Path) -> None:
    for path in paths:
        for suffix in ("", "-wal", "-shm"):
            _add_suffix(path, suffix).unlink(missing_ok=True)


def _recover(scratch: Path, fresh: Path) -> None:
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    new = Session(fresh, BUSY_MS)
    with closing(new.raw):
        with scratch.open("rb") as file:
            version = int.from_bytes(file.read(VERSION + 4)[VERSION:])
        migrate(new, fresh, version if 0 < version <= len(migrations()) else None)
        try:
            old = _readable(scratch, fresh)
        except apsw.Error:
            return
        with closing(old.raw):
            new.execute("BEGIN")
            for table in TABLES:
                _recover_table(old, new, table)
            with suppress(apsw.Error):
                _keep_positions(old, new)
            new.execute("COMMIT")


def _keep_positions(old: Session, new: Session) -> None:
    """Ensure that no position is assigned twice; logs of earlier formats leave that to SQLite."""
    if "AUTOINCREMENT" in str(new.execute("SELECT sql FROM sqlite_schema WHERE name = 'events'").fetchall()):
        (highest,) = old.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'events'").fetchall()[0]
        new.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'", (highest,))
    else:
        new.run("keep_position", new.fetch_number("highest_position"))


def _readable(scratch: Path, fresh: Path) -> Session:
    try:
        return open_checked(scratch, BUSY_MS)
    except apsw.NotADBError:
        _lend(scratch, fresh, AGREED + 4)
    except apsw.CorruptError:
        _lend(scratch, fresh, FIRST_PAGE)
    try:
        return open_checked(scratch, BUSY_MS)
    except apsw.CorruptError:
        _lend(scratch, fresh, FIRST_PAGE)
        return open_checked(scratch, BUSY_MS)


def _lend(scratch: Path, fresh: Path, length: int) -> None:
    """Overwrite the start of a damaged file with a sound one: in all logs the same tables begin at the same pages."""
    with scratch.open("r+b") as damaged, fresh.open("rb") as sound:
        first = sound.read(length)
        # Everything but the page count, which SQLite then determines itself.
        damaged.write(first[:MODE] + WAL + first[MODE + len(WAL) : AGREED] + bytes(4) + first[AGREED + 4 :])


def _recover_table(old: Session, new: Session, table: str) -> None:
    columns = ", ".join(str(row[1]) for row in new.execute(f"PRAGMA table_info({table})").fetchall())
    marks = ", ".join("?" for _ in columns.split(", "))
    for rowid in range(1, _last_row(old, table) + 1):
        # A text that is no longer valid is as lost as a missing row.
        with suppress(apsw.Error, UnicodeDecodeError):
            found = old.execute(f"SELECT {columns} FROM {table} NOT INDEXED WHERE rowid = ?", (rowid,)).fetchone()  # noqa: S608
            if found is not None:
                new.execute(f"INSERT OR IGNORE INTO {table} (rowid, {columns}) VALUES (?, {marks})", (rowid, *found))  # noqa: S608


def _last_row(old: Session, table: str) -> int:
    try:
        return int(old.execute(f"SELECT coalesce(max(rowid), 0) FROM {table} NOT INDEXED").fetchall()[0][0])  # noqa: S608
    except apsw.NotADBError:
        return 0
    except apsw.Error:
        return ROWS_PER_PAGE * int(old.execute("PRAGMA page_count").fetchall()[0][0])


def _put_back(fresh: Path, path: Path) -> None:
    source = Session(fresh, BUSY_MS)
    with closing(source.raw):
        try:
            # Through SQLite, so that processes that have the file open see the change and lose nothing.
            target = Session(path, BUSY_MS)
            with closing(target.raw), target.raw.backup("main", source.raw, "main") as backup:
                while not backup.done:
                    backup.step()
        except (apsw.CorruptError, apsw.NotADBError):
            replaced = True
        else:
            replaced = False
    if replaced:
        _remove(path)
        fresh.replace(path)

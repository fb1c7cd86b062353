"""Reads a database where nothing can be written: on a full disk, on read-only media, in somebody else's folder.

SQLite reads a database in WAL mode only with a `-shm` file beside it, which it creates if it does not exist.

1. If that file exists, because a process has the database open or died with it, SQLite reads as usual.
2. Otherwise nobody has the database open, and its bytes are complete, except for a `-wal` file that was left behind.
   They are read into memory; the `-wal` file is merged first, in a folder in memory or among temporary files.
"""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import apsw

from handrail.store.sqlite.connection import Session, open_checked

BUSY_MS = 5_000
MODE = 18
"""The offset in the header of a file of its write and read versions; two bytes."""
ROLLBACK = b"\x01\x01"
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_TRIES = 5


def open_read_only(path: Path) -> Session:
    """Open a database for reading only, without writing anything beside it."""
    try:
        return open_checked(path, BUSY_MS, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError, apsw.FullError):
        return _load_into_memory(_content(path))


def _load_into_memory(content: bytes) -> Session:
    session = Session(Path(":memory:"), BUSY_MS)
    # A database in memory has no file beside it for a write-ahead log.
    plain = content[:MODE] + ROLLBACK + content[MODE + len(ROLLBACK) :]
    # The types that apsw declares use a name that Python 3.11 does not have.
    cast("Any", session.raw).deserialize("main", plain)
    session.execute("PRAGMA query_only = ON")
    return session


def _content(path: Path) -> bytes:
    """Read the bytes of the database including everything in its write-ahead log."""
    # Nothing locks the files, so a copy counts only if neither changed while it was read.
    for _ in range(_TRIES):
        before = _stamps(path)
        content = _merge_wal(path) if _wal(path).exists() and _wal(path).stat().st_size else path.read_bytes()
        if _stamps(path) == before:
            return content
    raise apsw.BusyError(f"{path} keeps changing while it is read")


def _merge_wal(path: Path) -> bytes:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(_wal(path), _wal(copy))
        session = Session(copy, BUSY_MS)
        with closing(session.raw):
            session.raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return copy.read_bytes()


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _stamps(path: Path) -> list[tuple[int, int]]:
    found = [each.stat() for each in (path, _wal(path)) if each.exists()]
    return [(each.st_mtime_ns, each.st_size) for each in found]

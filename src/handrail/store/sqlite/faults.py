"""Turns what SQLite and the file system refuse into errors that say what to do."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from handrail.errors import StorageBusy, StorageDamaged, StorageFault, StorageFull, StorageRefused

LOG = "the log"
MIN_BYTES = 64 * 1024
"""The free space that SQLite needs beside a database to open it."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

MAKE_ROOM = "free up space on that disk, then resume; everything recorded so far is safe"
GET_ACCESS = "make the folder writable for your user, or set HANDRAIL_HOME to a folder that is"
REPAIR = "run `handrail doctor --repair`: it keeps a copy of the file and recovers every intact event"
WAIT = "wait for the other process or stop it, then try again"
LOOK_AT_DISK = "check the disk (`dmesg`, free space, permissions), then resume; everything recorded so far is safe"


@contextmanager
def translate_faults(path: Path, what: str = LOG) -> Generator[None]:
    """Turn what SQLite or the system raises inside into a `StorageFault` about this file."""
    try:
        yield
    except apsw.Error as error:
        raise translate_sqlite_error(error, path) from error
    except OSError as error:
        raise translate_system_error(error, path, what) from error


def translate_sqlite_error(error: apsw.Error, path: Path, system: int = 0) -> StorageFault:
    """Convert an error of SQLite; `system` is the error number of the system call that failed, if any."""
    match error:
        case apsw.FullError():
            return _no_room_error(path)
        case apsw.IOError() | apsw.CantOpenError() if system in NO_ROOM or _is_full(path):
            return _no_room_error(path)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return _access_error(path, str(error))
        case apsw.CorruptError() | apsw.NotADBError():
            return StorageDamaged(f"the log in {path} is damaged: {error}", next_step=REPAIR)
        case apsw.BusyError() | apsw.LockedError():
            return StorageBusy(f"the log in {path} is locked by another process", next_step=WAIT)
        case _:
            return StorageFault(f"the log in {path} cannot be used: {error}", next_step=LOOK_AT_DISK)


def translate_text_error(error: ValueError, path: Path) -> StorageDamaged:
    """Convert the error of a text that is not what was written."""
    return StorageDamaged(f"the log in {path} is damaged: {error}", next_step=REPAIR)


def translate_system_error(error: OSError, path: Path, what: str = LOG) -> StorageFault:
    """Convert an error of the file system."""
    if error.errno in NO_ROOM:
        return _no_room_error(path, what)
    return _access_error(path, error.strerror or str(error), what)


def _is_full(path: Path) -> bool:
    """Whether the disk is full, which SQLite does not report when it cannot create the files beside a database."""
    try:
        found = os.statvfs(path.parent)
    except OSError:
        return False
    return not found.f_flag & os.ST_RDONLY and found.f_bavail * found.f_frsize < MIN_BYTES


def _no_room_error(path: Path, what: str = LOG) -> StorageFull:
    return StorageFull(f"there is no room left for {what} in {path}", next_step=MAKE_ROOM)


def _access_error(path: Path, why: str, what: str = LOG) -> StorageRefused:
    return StorageRefused(f"{what} in {path} cannot be written: {why}", next_step=GET_ACCESS)

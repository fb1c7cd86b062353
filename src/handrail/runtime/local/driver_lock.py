"""Identifies the background driver of a database: a kernel lock beside it, which ends with the process."""

import fcntl
import json
import os
import time
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from handrail.frozen import frozen

LOCK = "driver.lock"
_MAX_BYTES = 1 << 16
_TIMEOUT = 0.5
"""Seconds for which the lock is tried; reading who holds it takes it for a moment."""


@frozen
class DriverInfo:
    """The background driver that is running."""

    pid: int
    since: float
    environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """A hash of each variable that it was started with and that commands see."""
    socket: str = ""
    """The name of the socket on which it receives environments; empty for an older version."""


class DriverLock:
    """The right to be the background driver of a database."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: int | None = None

    def take(self, environment: Mapping[str, str] | None = None, socket: str = "") -> DriverInfo | None:
        """Take the lock and return None, or return who has it; others can read our `environment` and `socket`."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            until = time.monotonic() + _TIMEOUT
            while not _try_lock(file, fcntl.LOCK_EX):
                if time.monotonic() > until:
                    return _read(file)
                time.sleep(0.01)
            os.ftruncate(file, 0)
            about = {"pid": os.getpid(), "since": time.time(), "environment": dict(environment or {}), "socket": socket}
            os.pwrite(file, json.dumps(about).encode(), 0)
            self._file = file
            return None
        finally:
            if self._file != file:
                os.close(file)

    def free(self) -> None:
        """Release the lock; the file stays, since another process may just have opened it."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)
            self._file = None


def find_driver(folder: Path) -> DriverInfo | None:
    """Return the background driver that serves the database of a folder, if one does."""
    try:
        file = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(file, fcntl.LOCK_SH) else _read(file)
    finally:
        os.close(file)


def _try_lock(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(file: int) -> DriverInfo:
    try:
        data = json.loads(os.pread(file, _MAX_BYTES, 0))
    except ValueError:
        # It has just taken the lock, and is about to write who it is.
        return DriverInfo(0, 0.0)
    return DriverInfo(
        int(data["pid"]), float(data["since"]), data.get("environment") or {}, str(data.get("socket") or "")
    )

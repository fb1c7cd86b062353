"""Doorbells: whoever waits for a change of the log is woken by it, and need not ask again and again.

Each is a pipe with a name, in a folder beside the database. Whoever has written to the database writes a byte to all of
them: the kernel wakes those who wait, and nothing happens while nothing does. A bell promises no more than that: a
process that dies right after its commit rings none, so whoever waits also looks now and then.

1. A bell gets its name when somebody listens to it already. One to which nobody does was left by a process that died,
   and is removed by the next who rings.
2. Who rings never waits: a pipe that is full was rung often enough.
"""

import contextlib
import errno
import os
from itertools import count
from pathlib import Path

FOLDER = "doorbells"
_MAX_BYTES = 1 << 16


class Doorbell:
    """A descriptor that becomes readable when somebody has written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        draft = path.with_name(f".{path.name}")
        draft.unlink(missing_ok=True)
        os.mkfifo(draft, 0o600)
        self._reads = os.open(draft, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        # Without a writer of its own it would be readable for good once the first one has left.
        self._writes = os.open(draft, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        draft.replace(path)

    def fileno(self) -> int:
        """Give the descriptor to wait for."""
        return self._reads

    def answer(self) -> None:
        """Take note of all who rang."""
        with contextlib.suppress(OSError):
            while os.read(self._reads, _MAX_BYTES):
                pass

    def close(self) -> None:
        """Listen no more."""
        if self._reads >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._reads)
            os.close(self._writes)
            self._reads = self._writes = -1


class Doorbells:
    """The doorbells of a database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._numbers = count(1)

    def hang(self) -> Doorbell | None:
        """Make a bell; None where the folder takes none."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            return Doorbell(self._folder / f"{os.getpid()}-{next(self._numbers)}")
        except OSError:
            return None

    def ring(self) -> None:
        """Wake all who wait."""
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - after every commit: this is the quick way
        except OSError:
            return
        for name in names:
            if not name.startswith("."):
                self._ring(self._folder / name)

    def _ring(self, path: Path) -> None:
        try:
            bell = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno == errno.ENXIO:
                path.unlink(missing_ok=True)
            return
        with contextlib.suppress(OSError):
            os.write(bell, b"r")
        os.close(bell)

"""Doorbells: whoever waits for a change of the log is woken by it, and need not ask again and again.

Each is a pipe with a name, in a folder beside the database. Whoever has written to the database writes a byte to all of
them: the kernel wakes those who wait, and nothing happens while nothing does. A bell promises no more than that: a
process that dies right after its commit rings none, so whoever waits also looks now and then.

1. A bell gets its name when somebody listens to it already. One to which nobody does was left by a process that died,
   and is removed by the next who rings.
2. Who rings never waits: a pipe that is full was rung often enough.
3. A process rings its own bell once until it has answered: it need not open the pipe for that, nor write each time.
4. The bells are listed again when their folder has changed. A folder that changed a moment ago is listed each time:
   the next change may have the same time.
"""

import contextlib
import errno
import os
import time
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

FOLDER = "doorbells"
_MAX_BYTES = 1 << 16
_TICK, _COARSE_TICK = 20_000_000, 3_000_000_000
"""Nanoseconds after which a change of a folder certainly shows in its time; the second where that has whole seconds."""
_NUMBERS = count(1)
"""Distinguishes the bells of a process, which may have a database open more than once."""


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
        self._rung = False
        draft.replace(path)

    def fileno(self) -> int:
        """Give the descriptor to wait for."""
        return self._reads

    def answer(self) -> None:
        """Take note of all who rang."""
        with contextlib.suppress(OSError):
            while os.read(self._reads, _MAX_BYTES):
                pass
        # Only now: who rings before this is heard, since whoever answers looks afterwards.
        self._rung = False

    def ring(self) -> None:
        """Wake who listens in this process."""
        if not self._rung and self._writes >= 0:
            self._rung = True
            with contextlib.suppress(OSError):
                os.write(self._writes, b"r")

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
        self._path = str(self._folder)
        self._own: WeakValueDictionary[str, Doorbell] = WeakValueDictionary()
        """The bells of this process; a fork has other names."""
        self._listed: tuple[int, list[str]] = (0, [])
        """When the folder had changed as its bells were listed last, and their names; 0 if that was just then."""

    def hang(self) -> Doorbell | None:
        """Make a bell; None where the folder takes none."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            name = f"{os.getpid()}-{next(_NUMBERS)}"
            bell = Doorbell(self._folder / name)
        except OSError:
            return None
        self._own[name] = bell
        return bell

    def ring(self) -> None:
        """Wake all who wait."""
        try:
            names = self._list_names()
        except OSError:
            return
        mine = f"{os.getpid()}-" if names else ""
        for name in names:
            own = self._own.get(name) if name.startswith(mine) else None
            if own is not None:
                own.ring()
            elif not name.startswith("."):
                self._ring(self._folder / name)

    def _list_names(self) -> list[str]:
        changed = os.stat(self._path).st_mtime_ns  # noqa: PTH116 - after every commit: this is the quick way
        known, names = self._listed
        if changed != known:
            names = os.listdir(self._path)  # noqa: PTH208 - as above
            tick = _TICK if changed % 1_000_000 else _COARSE_TICK
            self._listed = (changed if time.time_ns() - changed > tick else 0), names
        return names

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

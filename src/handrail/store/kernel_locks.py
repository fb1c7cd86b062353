"""Locks that the kernel releases when their process ends: one file per name, with its holder written inside.

These locks carry the leases of runs. At most one process may drive a run, and a run must not stay locked when its
driver is killed. A lease with an expiry time would need a heartbeat, and could expire under a process that was only
suspended; a row in a database would outlive its process. `flock` has neither problem: the kernel releases the lock with
the last descriptor of the open file, however the process ends.

A name is *free* (no file, or a file that nobody has locked) or *held* (a file locked by exactly one process, which
wrote into it who it is). The file of a dead process is free: its content is only believed while its lock is taken, and
`sweep` removes it.

Creating, locking and unlinking a file are separate steps, between which another process could lock a file that is about
to be unlinked. So every operation runs inside the *gate*, a lock that nobody holds for longer than one operation. A
forked child inherits descriptors and with them the locks of its parent, so it closes them without unlocking (`forget`);
they are closed on exec. A holder that lost its lock nevertheless, for instance because the files were removed, cannot
write: each lease has an epoch in the database (`store.sqlite.leases`), which the next holder raises and each append
under a lease compares.

This works on local disks, where `flock` is reliable.
"""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from handrail.late_import import late_import

if TYPE_CHECKING:
    import hashlib

    from handrail.ports.log import Holder
else:
    hashlib = late_import("hashlib")

GATE = "gate"
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})


class KernelLocks:
    """The locks that this process holds in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mutex = threading.RLock()
        self._held: dict[str, int] = {}
        self._open_gates: set[int] = set()
        _guard_forks().add(self)

    def take(self, name: str, holder: "Holder") -> "Holder | None":
        """Take a lock and return None, or return who has it."""
        with self.gate():
            file = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                other = None if _try_lock(file) else _read(file)
                if other is None:
                    os.ftruncate(file, 0)
                    os.pwrite(file, json.dumps({**asdict(holder), "lock": name}).encode(), 0)
                    self._held[name] = file
                return other
            finally:
                if self._held.get(name) != file:
                    os.close(file)

    def holds(self, name: str) -> bool:
        """Whether this process holds the lock."""
        return name in self._held

    def free(self, name: str) -> None:
        """Release a lock."""
        with self.gate():
            file = self._held.pop(name, None)
            if file is not None:
                with suppress(OSError):
                    self._path(name).unlink()
                _unlock(file)

    def holder(self, name: str) -> "Holder | None":
        """Return who holds a lock now."""
        with self.gate(reads=True):
            try:
                file = _open(self._path(name), reads=True)
            except FileNotFoundError:
                return None
            try:
                return None if _try_lock(file) else _read(file)
            finally:
                os.close(file)

    def sweep(self) -> None:
        """Remove the files of locks whose holders have died, as far as the disk allows it."""
        with self.gate():
            for path in self._folder.glob("*.lock"):
                with suppress(OSError):
                    _remove_if_free(path)

    @contextmanager
    def gate(self, *, reads: bool = False) -> Generator[None]:
        """Exclude all other processes and threads; a reader does not need permission to write."""
        with self._mutex:
            try:
                file = _open(self._folder / GATE, os.O_CREAT, reads=reads)
            except FileNotFoundError:
                if not reads:
                    raise
                # Nothing can be written here, and nobody ever locked anything.
                yield
                return
            self._open_gates.add(file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
            finally:
                self._open_gates.discard(file)
                _unlock(file)

    def forget(self) -> None:
        """Close without unlocking: in a forked child the locks still belong to the parent."""
        for file in (*self._held.values(), *self._open_gates):
            os.close(file)
        self._held, self._open_gates, self._mutex = {}, set(), threading.RLock()

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:40]}.lock"


def _open(path: Path, create: int = 0, *, reads: bool) -> int:
    try:
        return os.open(path, os.O_RDWR | create | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if not reads or error.errno not in _NOT_WRITABLE:
            raise
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _remove_if_free(path: Path) -> None:
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if _try_lock(file):
            path.unlink()
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlock(file: int) -> None:
    # Closing alone is not enough: a child between fork and exec still has a copy of the file open.
    try:
        fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)


def _read(file: int) -> "Holder":
    from handrail.ports.log import Holder  # noqa: PLC0415 (a lock that nobody holds needs none of the log's types)

    try:
        data = json.loads(os.pread(file, 65_536, 0))
        return Holder(str(data["name"]), int(data["pid"]), str(data["host"]), float(data["since"]))
    except (ValueError, KeyError, TypeError):
        # Somebody else wrote into the file; the lock is held nevertheless.
        return Holder("unknown", 0, "unknown", 0.0)


@cache
def _guard_forks() -> "WeakSet[KernelLocks]":
    known: WeakSet[KernelLocks] = WeakSet()

    def forget_all() -> None:
        for locks in list(known):
            locks.forget()

    os.register_at_fork(after_in_child=forget_all)
    return known

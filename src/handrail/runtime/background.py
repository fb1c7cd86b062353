"""The background driver: one per database, drives every run that can move, ends when there is nothing to wait for.

1. A kernel lock on `driver.lock` beside the database says who it is; it ends with the process, however that ends.
2. Whoever wants something done leaves it in the log first and looks for a driver then. A driver that ends lets go
   of the lock first and looks at the log once more then. So nothing falls between the two.
3. What it started goes on without it, in files; the next driver adopts it.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handrail.errors import StorageFault
from handrail.ports.log import Log
from handrail.runtime.ports import Clock
from handrail.runtime.supervisor import Supervisor
from handrail.runtime.waits import Waits

LOCK = "driver.lock"
LOOK_EVERY = 0.045
"""Seconds between looks at the log; a look costs microseconds."""
GRACE = 30.0
"""Seconds without anything to do before it ends."""
AHEAD = 3600.0
"""Seconds; a timer that is due sooner is waited for."""
_MOST_BYTES = 1 << 16
_PATIENCE = 0.5
"""Seconds in which a lock is tried for; a look at who holds it takes it for a moment."""


@dataclass(frozen=True, slots=True)
class DriverInfo:
    """The background driver that is running."""

    pid: int
    since: float
    environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """A mark for each variable that it was started with and that commands see."""


class DriverLock:
    """The right to be the background driver of a database."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: int | None = None

    def take(self, environment: Mapping[str, str] | None = None) -> DriverInfo | None:
        """Take it and give None, or say who has it; `environment` is what others are told of ours."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        until = time.monotonic() + _PATIENCE
        while not _locked(file, fcntl.LOCK_EX):
            if time.monotonic() > until:
                other = _read(file)
                os.close(file)
                return other
            time.sleep(0.01)
        os.ftruncate(file, 0)
        about = {"pid": os.getpid(), "since": time.time(), "environment": dict(environment or {})}
        os.pwrite(file, json.dumps(about).encode(), 0)
        self._file = file
        return None

    def free(self) -> None:
        """Let go of it; the file stays, since another process may just have opened it."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)
            self._file = None


def who(folder: Path) -> DriverInfo | None:
    """Say which background driver serves the database of a folder."""
    try:
        file = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        return None if _locked(file, fcntl.LOCK_SH) else _read(file)
    finally:
        os.close(file)


def _locked(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(file: int) -> DriverInfo:
    try:
        data = json.loads(os.pread(file, _MOST_BYTES, 0))
    except ValueError:
        # It has the lock and is about to write who it is.
        return DriverInfo(0, 0.0)
    return DriverInfo(int(data["pid"]), float(data["since"]), data.get("environment") or {})


@dataclass(slots=True)
class Background:
    """Moves what can move, and waits for the rest."""

    log: Log
    supervisor: Supervisor
    clock: Clock
    grace: float = GRACE
    steady: Clock = time.monotonic
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: int | None = None
    _due: float | None = None
    _stays: bool = False
    _waits: Waits = field(init=False)

    def __post_init__(self) -> None:
        self._waits = Waits(self.log, self.clock, self.steady)

    async def serve(self) -> None:
        """Drive until told to stop, or until nothing has happened for the grace period."""
        ends = _now() + self.grace
        while not self.stop.is_set():
            with contextlib.suppress(StorageFault):
                self._waits.look()
            if self._called():
                await self._moved()
                ends = _now() + self.grace
            elif not self._stays and _now() >= ends:
                return
            await asyncio.sleep(LOOK_EVERY)

    async def _moved(self) -> None:
        # Runs that are driven take their time, and the clocks are watched meanwhile.
        watching = asyncio.ensure_future(self._waits.watch())
        try:
            await self._move()
        finally:
            watching.cancel()

    def settled(self) -> bool:
        """Whether no message and no time waits for somebody to act on it."""
        return not self.log.pending_streams() and not self.log.due(self.clock(), limit=1)

    def _called(self) -> bool:
        retry = self.supervisor.retry_at()
        return (
            self.log.changed() != self._seen
            or (self._due is not None and self._due <= self.clock())
            or (retry is not None and retry <= _now())
        )

    async def _move(self) -> None:
        self._seen = self.log.changed()
        moving = asyncio.ensure_future(self.supervisor.run_until_idle())
        told = asyncio.ensure_future(self.stop.wait())
        await asyncio.wait({moving, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if not moving.done():
            moving.cancel()
            await asyncio.wait({moving})
            return
        moving.result()
        next_timer = self.log.due(self.clock() + AHEAD, limit=1)
        self._due = next_timer[0].due if next_timer else None
        self._stays = self._due is not None or self.supervisor.retry_at() is not None or self._waits.waiting


def _now() -> float:
    return asyncio.get_running_loop().time()

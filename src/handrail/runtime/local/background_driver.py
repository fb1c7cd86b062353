"""The background driver: one per database, drives every run that can move, ends when there is nothing to wait for.

1. A kernel lock on `driver.lock` beside the database identifies it; the lock ends with the process, however that ends.
2. A client first writes its request to the log and then looks for a driver. A driver that ends first releases the
lock and then checks the log once more. So no request is lost between the two.
3. What it started goes on without it, in files; the next driver adopts it.
"""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

from handrail.errors import StorageFault
from handrail.ports.log import Log
from handrail.runtime.clock_waits import TimerWatch
from handrail.runtime.local.supervisor import Companion, Supervisor
from handrail.runtime.ports import Clock
from handrail.runtime.watcher import MAX_WAIT, ChangeWaiter, Watcher

POLL_INTERVAL = 0.045
"""Seconds between looks at the log where much happens, or nobody tells; a look costs microseconds."""
GRACE = 30.0
"""Seconds without anything to do before it ends."""
AHEAD = 3600.0
"""How far ahead in seconds a timer may be due for the driver to wait for it."""


@dataclass(slots=True)
class BackgroundDriver:
    """Drives every run that can move, and waits for the others."""

    log: Log
    supervisor: Supervisor
    clock: Clock
    grace: float = GRACE
    steady: Clock | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: int | None = None
    _due: float | None = None
    _stays: bool = False
    _waits: TimerWatch = field(init=False)
    _woken: bool = False
    _companion: Companion | None = None
    _beside: "asyncio.Task[None] | None" = None
    _watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        self._waits = TimerWatch(self.log, self.supervisor.handlers.environments, self.clock, self.steady)
        self._watcher = self.supervisor.watcher = Watcher(self.log)

    async def serve(self) -> None:
        """Drive until asked to stop, or until nothing has happened for the grace period."""
        ends = _now() + self.grace
        lookout, stopping = self._watcher.lookout(POLL_INTERVAL), asyncio.ensure_future(self.stop.wait())
        try:
            await self._look_on(lookout, stopping, ends)
        finally:
            stopping.cancel()
            self._watcher.close()
            if self._beside is not None and self._companion is not None:
                self._beside.cancel()
                await asyncio.gather(self._beside, return_exceptions=True)
                await self._companion.finish()

    async def _look_on(self, lookout: ChangeWaiter, stopping: "asyncio.Future[Any]", ends: float) -> None:
        while not self.stop.is_set():
            with contextlib.suppress(StorageFault):
                self._waits.look()
            if self._has_work():
                self._join_companion()
                await self._move_and_watch()
                ends = _now() + self.grace
            elif self._companion is not None and self._companion.is_waiting():
                ends = _now() + self.grace
            elif not self._stays and _now() >= ends:
                return
            await lookout.wait(self._patience(ends), stopping)

    def _join_companion(self) -> None:
        """Let what goes on beside the runs begin, as soon as one of them needs it."""
        if self._companion is None:
            self._companion = self.supervisor.find_companion()
            if self._companion is not None:
                waits = self._watcher.lookout(POLL_INTERVAL)
                self._beside = asyncio.create_task(self._companion.attend(waits.wait))

    def _patience(self, ends: float) -> float:
        """Say for how long nothing can happen of which nobody tells."""
        if self._waits.has_deadlines:
            return POLL_INTERVAL
        retry = self.supervisor.retry_at()
        times = [MAX_WAIT, *(() if self._stays else (ends - _now(),)), *(() if retry is None else (retry - _now(),))]
        if self._due is not None:
            times.append(self._due - self.clock())
        return max(0.0, min(times))

    async def _move_and_watch(self) -> None:
        # Driving takes a while, so the clocks are watched meanwhile.
        watching = asyncio.ensure_future(self._waits.watch())
        try:
            await self._move()
        finally:
            watching.cancel()

    def wake(self) -> None:
        """Check again before it ends: a client that has just called relies on that."""
        self._woken = True
        self._watcher.ring()

    def is_idle(self) -> bool:
        """Whether nobody called, and no message or due timer waits to be handled."""
        return not self._woken and not self.supervisor.find_due_runs()

    def _has_work(self) -> bool:
        retry = self.supervisor.retry_at()
        return (
            self._woken
            or self.log.change_token() != self._seen
            or (self._due is not None and self._due <= self.clock())
            or (retry is not None and retry <= _now())
        )

    async def _move(self) -> None:
        self._seen, self._woken = self.log.change_token(), False
        moving = asyncio.ensure_future(self.supervisor.run_until_idle())
        told = asyncio.ensure_future(self.stop.wait())
        await asyncio.wait({moving, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if not moving.done():
            moving.cancel()
            await asyncio.wait({moving})
            return
        moving.result()
        self._due = next((timer.due for timer in self.supervisor.timers(self.clock() + AHEAD)), None)
        self._stays = self._due is not None or self.supervisor.retry_at() is not None or self._waits.has_deadlines


def _now() -> float:
    return asyncio.get_running_loop().time()

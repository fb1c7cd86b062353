"""Keeps runs going when no terminal is open: the one background driver of a database, started on demand."""

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.ports.environments import EnvironmentHolder
from handrail.ports.log import Log
from handrail.ports.programs import DetachedProgram, Programs
from handrail.runtime.history import RootFinder
from handrail.runtime.local.driver_lock import DriverInfo, DriverLock
from handrail.runtime.local.driver_lock import find_driver as who_drives
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.run_writer import attendant_of
from handrail.sources.folders import Folders

if TYPE_CHECKING:
    from handrail.runtime.local import background_driver as background
else:
    background = late_import("handrail.runtime.local.background_driver")

IDLE_VARIABLE = "HANDRAIL_DRIVER_IDLE"
"""Seconds without work after which the background driver ends; for tests."""
LOG_FILE = "driver.log"
_STARTS_WITHIN = 20.0
_POLL_INTERVAL = 0.01


@frozen
class DriverStarted:
    """The background driver was started."""

    pid: int


@frozen
class AlreadyRunning:
    """A background driver is already running; it takes care of everything."""

    pid: int
    since: float


def find_background_driver(folders: Folders) -> DriverInfo | None:
    """Return the background driver that is running, or None."""
    return who_drives(folders.data)


def ensure(folders: Folders, programs: Programs) -> DriverStarted | AlreadyRunning:
    """Make sure that there is a background driver, and return when it drives."""
    running = find_background_driver(folders)
    if running is not None:
        return AlreadyRunning(running.pid, running.since)
    folders.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    started = programs.start_detached(["drive"], {**os.environ, **_home(folders)}, folders.data / LOG_FILE)
    try:
        return _wait_until_driving(folders, started)
    finally:
        started.close()


def _wait_until_driving(folders: Folders, started: DetachedProgram) -> DriverStarted | AlreadyRunning:
    """Wait until it drives or has ended."""
    next_step = f"see {started.output}, or: handrail resume"
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until:
        running = find_background_driver(folders)
        if running is not None and running.pid:
            return DriverStarted(running.pid)
        if started.has_ended(_POLL_INTERVAL):
            return _resolve_early_exit(folders, started, next_step)
    raise EnvironmentFault("the background driver did not start", next_step=next_step)


def _resolve_early_exit(folders: Folders, started: DetachedProgram, next_step: str) -> DriverStarted | AlreadyRunning:
    """Handle a driver that has already ended: another one was first, or there was nothing to do, or it died."""
    pid, other = started.poll_finished_pid(), find_background_driver(folders)
    if other is not None:
        return AlreadyRunning(other.pid, other.since)
    if pid is not None:
        return DriverStarted(pid)
    said = started.last_words() or "it printed nothing"
    raise EnvironmentFault(f"the background driver died at startup: {said}", next_step=next_step)


def list_environment_differences(driver: DriverInfo, programs: Programs) -> tuple[str, ...]:
    """List the variables that commands of the background driver see differently than commands of this process."""
    ours = programs.environment_marks(os.environ) if driver.environment else {}
    return tuple(sorted({name for name, _ in ours.items() ^ driver.environment.items()}))


def _home(folders: Folders) -> dict[str, str]:
    """Return the variable that names the folders if they are not the default ones of the environment."""
    return {"HANDRAIL_HOME": str(folders.config)} if folders.data == folders.config / "data" else {}


def drive(
    folders: Folders, programs: Programs, log: Log, supervisor: Supervisor, holder: EnvironmentHolder
) -> AlreadyRunning | None:
    """Act as the background driver until nothing is left to wait for, then return None."""
    lock = DriverLock(folders.data)
    roots = RootFinder(log)
    supervisor.is_attended = lambda run: attendant_of(log, roots(run)) is not None
    while True:
        # The socket is opened before the lock is taken, since the lock file names it.
        other = lock.take(programs.environment_marks(os.environ), holder.open())
        if other is not None:
            holder.close()
            return AlreadyRunning(other.pid, other.since)
        try:
            holder.sweep()
            serving = background.BackgroundDriver(
                log, supervisor, supervisor.clock, float(os.environ.get(IDLE_VARIABLE) or background.GRACE)
            )
            stopped = asyncio.run(_serve(serving, holder))
        finally:
            holder.close()
            lock.free()
        # Somebody may have left a message while we still held the lock, and relies on us to see it.
        if stopped or serving.is_idle():
            return None


async def _serve(serving: "background.BackgroundDriver", holder: EnvironmentHolder) -> bool:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, serving.stop.set)
    listening = asyncio.create_task(holder.serve(serving.wake))
    await serving.serve()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    return serving.stop.is_set()

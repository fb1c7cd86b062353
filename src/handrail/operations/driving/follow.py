"""Follows a run, whoever drives it, until it has come to rest: it has ended, needs a person, or has no driver.

1. A run that moves on its own is at rest if no process has driven it for a while: its driver may be about to start.
2. A run that waits for a person is at rest as soon as no message waits in its inbox: an answer that was sent and not
   yet processed is about to move it.
3. Events are given in the order of their positions in the log. One that lies beyond what was read of the whole log is
   held back: an event with a lower position could still follow it, and whoever resumes after it would miss that one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.operations.driving.drive import EventFollower, RunEvent
from handrail.operations.driving.driver_info import find_running_driver
from handrail.operations.views.run_tree import find_acting_run, holder_of, root_of
from handrail.ports.log import Log
from handrail.runtime.run_writer import attendant_of
from handrail.runtime.watcher import Watcher

PATIENCE = 5.0
"""Seconds after which a run that has no driver, or whose messages nobody processes, is at rest."""


def is_driven(log: Log, folder: Path, run: str) -> bool:
    """Whether some process drives a run, attends to it, or would drive it: the background driver of a data folder."""
    if holder_of(log, run) is not None:
        return True
    if find_acting_run(log, run).acting.held_by:
        # A connected agent has its next step, and may never come back.
        return False
    return attendant_of(log, root_of(log, run)) is not None or find_running_driver(folder) is not None


def is_at_rest(log: Log, folder: Path, run: str, idle: float, patience: float = PATIENCE) -> bool:
    """Whether a run has ended, needs a person, or has no driver; `idle` are the seconds since the log last changed."""
    at = find_acting_run(log, run).acting
    if at.status in ("queued", "running") or at.reason in ("timer", "quota"):
        return idle >= patience and not is_driven(log, folder, run)
    return not log.inbox(at.run, limit=1) or idle >= patience


def _no_work() -> None:
    return None


@dataclass(slots=True)
class FollowedRun:
    """A run that is followed in an event loop."""

    log: Log
    folder: Path
    """The data folder, which names the background driver."""
    run: str
    patience: float = PATIENCE
    work: "Callable[[], asyncio.Future[Any] | None]" = field(default=_no_work)
    """Returns what drives the run in this process, if anything does; its end is worth a look."""

    async def changes(self) -> AsyncIterator[None]:
        """Yield at the beginning and after each change of the log, until the run has come to rest."""
        loop, watcher = asyncio.get_running_loop(), Watcher(self.log)
        lookout = watcher.lookout()
        seen, moved = -1, loop.time()
        try:
            while True:
                now = self.log.change_token()
                if now != seen:
                    seen, moved = now, loop.time()
                    yield
                elif self._is_at_rest(loop.time() - moved):
                    return
                else:
                    await lookout.wait(other=self._unfinished_work())
        finally:
            watcher.close()

    async def events(self, after: int = 0) -> AsyncIterator[RunEvent]:
        """Yield the events of a run and of those that it started with a position above `after`, in their order."""
        follower, found = EventFollower(self.log, self.run), list[RunEvent]()
        async for _ in self.changes():
            found += follower.news()
            if any(each.position > follower.position for each in found):
                found += follower.news()
            ready = [each for each in found if each.position <= follower.position]
            found = [each for each in found if each.position > follower.position]
            for each in sorted(ready, key=lambda each: each.position):
                if each.position > after:
                    yield each

    async def wait_until_at_rest(self) -> None:
        """Wait until the run has ended, needs a person, or has no driver."""
        async for _ in self.changes():
            pass

    def _is_at_rest(self, idle: float) -> bool:
        # What this process drives has a driver, however long nothing happens.
        own = self._unfinished_work() is not None
        return is_at_rest(self.log, self.folder, self.run, 0.0 if own else idle, self.patience)

    def _unfinished_work(self) -> "asyncio.Future[Any] | None":
        work = self.work()
        return None if work is None or work.done() else work

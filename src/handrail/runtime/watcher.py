"""Wakes those of this process who wait for a change of the log: one descriptor of the event loop serves all of them.

Where the log has doorbells, nothing is asked and nothing runs while nothing happens. Everybody looks once in a while
all the same: a process that dies right after its commit rings no bell. Where there are none the log is asked often.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from handrail.ports.log import Doorbell, Log

POLL_INTERVAL = 0.05
"""Seconds between two looks where something happens all the time, and where nobody rings."""
MAX_WAIT = 1.0
"""Seconds after which everybody looks, rung or not."""
Other: TypeAlias = "asyncio.Future[Any] | None"
"""Something else that ends a wait."""


@dataclass(slots=True)
class Watcher:
    """Listens for changes as long as anybody waits for one."""

    log: Log
    rings: int = 0
    """How often somebody rang."""
    _bell: Doorbell | None = None
    _waiting: set["asyncio.Future[None]"] = field(default_factory=set["asyncio.Future[None]"])
    _listeners: set[Callable[[], None]] = field(default_factory=set[Callable[[], None]])
    _attending: asyncio.AbstractEventLoop | None = None
    """The loop that waits for the bell."""

    def lookout(self, every: float = POLL_INTERVAL) -> "ChangeWaiter":
        """Return a waiter that looks no more often than this."""
        self._hang()
        return ChangeWaiter(self, every, self.rings)

    def listen(self, called: Callable[[], None]) -> bool:
        """Call a function at each ring, until it is given to `ignore`; return whether anybody rings."""
        self._hang()
        self._listeners.add(called)
        self._attend()
        return self.listens

    def ignore(self, called: Callable[[], None]) -> None:
        """Call a function no more."""
        self._listeners.discard(called)
        self._attend()

    @property
    def listens(self) -> bool:
        """Whether changes are reported."""
        return self._bell is not None

    def ring(self) -> None:
        """Wake all who wait."""
        self.rings += 1
        for each in self._waiting:
            if not each.done():
                each.set_result(None)
        for called in tuple(self._listeners):
            called()

    def close(self) -> None:
        """Listen no more."""
        bell, self._bell = self._bell, None
        if bell is not None:
            if self._attending is not None:
                self._attending.remove_reader(bell.fileno())
                self._attending = None
            bell.close()

    async def wait(self, seconds: float, other: Other) -> None:
        """Wait for the next ring, for something else, or for so long."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        self._waiting.add(mine)
        self._attend()
        try:
            await _first(mine, other, seconds)
        finally:
            self._waiting.discard(mine)
            mine.cancel()
            self._attend()

    def _hang(self) -> None:
        if self._bell is None:
            self._bell = self.log.doorbell()

    def _attend(self) -> None:
        """Let the loop wait for the bell as long as anybody wants to know of it."""
        wanted = bool(self._waiting or self._listeners)
        if self._bell is None or wanted == (self._attending is not None):
            return
        if self._attending is None:
            self._attending = asyncio.get_running_loop()
            self._attending.add_reader(self._bell.fileno(), self._answer)
        else:
            self._attending.remove_reader(self._bell.fileno())
            self._attending = None

    def _answer(self) -> None:
        if self._bell is not None:
            self._bell.answer()
        self.ring()


@dataclass(slots=True)
class ChangeWaiter:
    """One who looks, and waits until it is worth another look."""

    watcher: Watcher
    every: float
    _seen: int
    _last: float = 0.0

    async def wait(self, seconds: float = MAX_WAIT, other: Other = None) -> None:
        """Wait until something has changed since the last look, for so long at most."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + (seconds if self.watcher.listens else min(seconds, self.every))
        early = min(self._last + self.every, ends) - loop.time()
        if early > 0:
            await _first(None, other, early)
        left = ends - loop.time()
        if self.watcher.rings == self._seen and left > 0 and not (other is not None and other.done()):
            await self.watcher.wait(left, other)
        self._seen, self._last = self.watcher.rings, loop.time()

    async def wait_for_first(self, tasks: "Iterable[asyncio.Task[Any]]", seconds: float) -> None:
        """Wait until something has changed or one of some tasks is done, for so long at most."""
        first = asyncio.ensure_future(asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))
        try:
            await self.wait(seconds, first)
        finally:
            first.cancel()


async def _first(mine: "asyncio.Future[None] | None", other: Other, seconds: float) -> None:
    """Wait for whichever comes first."""
    awaited: set[asyncio.Future[Any]] = {each for each in (mine, other) if each is not None}
    if awaited:
        await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    else:
        await asyncio.sleep(seconds)

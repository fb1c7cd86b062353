"""Drives one run and its children in this process, shows what happens, and pauses when asked."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.model.events import ChildStarted, Event
from handrail.operations.families import belongs_to, family, holder_of, pause
from handrail.ports.log import Log
from handrail.runtime.histories import state_of
from handrail.runtime.records import from_log
from handrail.runtime.supervisor import Supervisor

LOOK_EVERY = 0.05
PATIENCE = 10.0
"""Seconds in which another process should have taken up a message."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a run that is watched; `via` is the way from the watched run to the child it happened in."""

    run: str
    seq: int
    event: Event
    via: str = ""


@dataclass(slots=True)
class Follower:
    """Gives each event of a run and its children once, as they come."""

    log: Log
    run: str
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _via: dict[str, str] = field(default_factory=dict[str, str])

    def skip(self) -> None:
        """Begin with what comes from now on."""
        self.news()

    def news(self) -> list[Happened]:
        """Give what happened since the last time, in the order in which it was recorded."""
        self._via.setdefault(self.run, "")
        found: list[tuple[int, Happened]] = []
        waiting = list(self._via)
        for run in waiting:
            for stored in self.log.read(run, after=self._seen.get(run, 0)):
                self._seen[run] = stored.seq
                happened = Happened(run, stored.seq, from_log(stored), self._via[run])
                found.append((stored.position, happened))
                if isinstance(happened.event, ChildStarted) and happened.event.child not in self._via:
                    self._via[happened.event.child] = f"{self._via[run]}{happened.event.address}: "
                    waiting.append(happened.event.child)
        return [happened for _, happened in sorted(found, key=lambda each: each[0])]


@dataclass(slots=True)
class Drive:
    """One run in this process, until it is over or needs the outside."""

    log: Log
    supervisor: Supervisor
    run: str
    show: Callable[[Happened], None]
    follower: Follower
    pausing: bool = False
    _changed: int = -1

    async def go(self) -> None:
        """Drive; times that are waited for are waited for."""
        self.supervisor.wanted = belongs_to(self.run)
        watching = asyncio.create_task(self._watch())
        try:
            while True:
                await self.supervisor.run_until_idle()
                if holder_of(self.log, self.run) is not None:
                    # Another process was first, such as the background driver: what it does is followed.
                    await asyncio.sleep(LOOK_EVERY)
                    continue
                until = self._waits_until()
                if until is None or not await self._sleep(until):
                    break
        finally:
            watching.cancel()
            self._tell()

    def pause(self) -> None:
        """Ask the run and its children to pause."""
        self.pausing = True
        pause(self.log, self.run)

    async def _watch(self) -> None:
        while True:
            if self.pausing:
                # A child may have come into being after the first request.
                pause(self.log, self.run)
            changed = self.log.changed()
            if changed != self._changed:
                self._changed = changed
                self._tell()
            await asyncio.sleep(LOOK_EVERY)

    def _tell(self) -> None:
        for happened in self.follower.news():
            self.show(happened)

    def _waits_until(self) -> float | None:
        states = [state_of(self.log, each) for each in family(self.log, self.run)]
        times = [each.until for each in states if each.status == "waiting" and each.reason in ("timer", "quota")]
        return min((time for time in times if time is not None), default=None)

    async def _sleep(self, until: float) -> bool:
        """Wait for a time; False when a pause came first."""
        while not self.pausing and self.supervisor.clock() < until:
            await asyncio.sleep(min(LOOK_EVERY, max(0.0, until - self.supervisor.clock())))
        return not self.pausing


async def until_taken_up(log: Log, run: str) -> bool:
    """Wait until the messages of a run that another process drives are taken up; False when they are not."""
    ends = asyncio.get_running_loop().time() + PATIENCE
    while log.inbox(run, limit=1):
        if asyncio.get_running_loop().time() > ends or log.holder(run) is None:
            return not log.inbox(run, limit=1)
        await asyncio.sleep(LOOK_EVERY)
    return True

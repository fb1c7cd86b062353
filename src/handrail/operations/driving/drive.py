"""Drives one run and its children in this process, shows what happens, and pauses on request."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from handrail.engine.fold.step_tools import run_started_by
from handrail.errors import StorageDamaged, StorageTooNew
from handrail.frozen import frozen
from handrail.model.history.events import ChildStarted, Event, ItemStarted
from handrail.model.history.run_lines import Filter
from handrail.operations.views.run_tree import family, find_acting_run, holder_of, make_family_test, pause, root_of
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log, StoredEvent
from handrail.runtime.clock_waits import TimerWatch
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.run_writer import RunClaim, RunWriter
from handrail.runtime.watcher import MAX_WAIT, Watcher

__all__ = ["Drive", "EventFollower", "RunClaim", "RunEvent", "lacks_login", "wait_until_inbox_empty"]
POLL_INTERVAL = 0.05
ASK_AGAIN = 1.0
"""Seconds after which a queued run asks again: the process that it waits for may have died."""
TIMEOUT = 10.0
"""Seconds within which another process should have processed a message."""


@frozen
class RunEvent:
    """An event of a watched run; `via` is the path from the watched run to the child in which it happened."""

    run: str
    seq: int
    event: Event
    via: str = ""
    inner: bool = False
    """Whether it happened in a child run of the watched one."""
    position: int = 0
    """Its place among the events of all runs."""


@dataclass(slots=True)
class EventFollower:
    """Yields each event of a run and its children once, as they are recorded."""

    log: Log
    run: str
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _via: dict[str, str] = field(default_factory=dict[str, str])
    position: int = 0
    """The position in the log up to which all of it was looked at."""

    def has_told(self, run: str, seq: int) -> bool:
        """Whether an event was already returned."""
        return self._seen.get(run, 0) >= seq

    def news(self) -> list[RunEvent]:
        """Give what happened since the last time, in the order in which it was recorded."""
        found: list[RunEvent] = []
        if not self._via:
            self._via[self.run] = ""
            self._take(self.log.read(self.run), found)
            self.position = max((each.position for each in found if each.run == self.run), default=0)
        else:
            # The events of all runs: to ask each that belongs to this one would take longer with every child.
            new = self.log.read_all(after=self.position)
            self._take([stored for stored in new if stored.stream in self._via], found)
            self.position = new[-1].position if new else self.position
        return sorted(found, key=lambda each: each.position)

    def _take(self, events: Sequence[StoredEvent], found: list[RunEvent]) -> None:
        """Take events that were not given yet, and all of the runs that they started."""
        started: list[str] = []
        for stored in events:
            run = stored.stream
            if self.has_told(run, stored.seq):
                continue
            self._seen[run] = stored.seq
            event = decode_event(stored)
            found.append(RunEvent(run, stored.seq, event, self._via[run], run != self.run, stored.position))
            started += self._children(run, event)
        for child in started:
            self._take(self.log.read(child, after=self._seen.get(child, 0)), found)

    def _children(self, run: str, event: Event) -> Iterator[str]:
        """Give the runs that an event started, and remember the way to them."""
        if isinstance(event, ChildStarted | ItemStarted) and event.child not in self._via:
            # The steps of an item have its whole address already, and so has the step that a flow calls.
            own = f"{event.address}: " if isinstance(event, ChildStarted) and not event.plan else ""
            self._via[event.child] = f"{self._via[run]}{own}"
            yield event.child
        child = run_started_by(event)
        if child and child not in self._via:
            self._via[child] = f"{child}: "
            yield child


@dataclass(slots=True)
class Drive:
    """One run driven in this process, until it ends or needs something from outside."""

    log: Log
    supervisor: Supervisor
    run: str
    show: Callable[[RunEvent], None]
    follower: EventFollower
    claim: RunClaim | None = None
    """The claim of this process on the run, if it already has one; it is given up at the end of the drive."""
    pausing: bool = False
    on_queue: Callable[[], None] = lambda: None
    """Called while the run waits for its turn, which others may have to bring about."""
    _changed: int = -1
    _waits: TimerWatch = field(init=False)
    _watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        self._watcher = self.supervisor.watcher = Watcher(self.log)
        self._waits = TimerWatch(
            self.log, self.environments, self.supervisor.clock, wanted=make_family_test(self.log, self.run)
        )

    @property
    def environments(self) -> RunEnvironments:
        """The environments of the runs that are driven."""
        return self.supervisor.handlers.environments

    async def go(self) -> None:
        """Drive the run, wait for its timers, and keep the background driver away from it meanwhile."""
        self.supervisor.wanted = make_family_test(self.log, self.run)
        claim = self.claim or RunClaim(self.log, self.supervisor.name)
        claim.attend(root_of(self.log, self.run))
        first = claim.pass_on()
        if first is not None:
            self.supervisor.leases[self.run] = first
        lookout = self._watcher.lookout(POLL_INTERVAL)
        companion = self.supervisor.find_companion()
        watching = [asyncio.create_task(each) for each in (self._watch(), self._waits.watch())]
        watching += [] if companion is None else [asyncio.create_task(companion.attend(self._wait_beside))]
        try:
            while True:
                await self.supervisor.run_until_idle()
                if holder_of(self.log, self.run) is not None:
                    # Another process was first, such as the background driver: follow what it does.
                    await lookout.wait()
                    continue
                until = self._waits_until()
                if until is not None:
                    await self._sleep(until)
                elif self._is_queued():
                    await self._await_turn()
                else:
                    break
        finally:
            await self._stop_watching(watching)
            claim.free()
            self._watcher.close()
            self._tell()
            await (_wait_for_nothing() if companion is None else companion.finish())

    async def _stop_watching(self, watching: "list[asyncio.Task[None]]") -> None:
        for each in watching:
            each.cancel()
        await asyncio.gather(*watching, return_exceptions=True)

    async def _wait_beside(self, seconds: float) -> None:
        """Wait on behalf of what goes on beside the run: for a change of the log, or for so long."""
        await self._watcher.lookout(POLL_INTERVAL).wait(seconds)

    def pause(self) -> None:
        """Ask the run and its children to pause."""
        self.pausing = True
        self._ask_to_pause()
        self._watcher.ring()

    def _ask_to_pause(self) -> None:
        pause(RunWriter(self.log, self.environments.environment_of(self.run).redactor), self.run)

    async def _watch(self) -> None:
        lookout = self._watcher.lookout(POLL_INTERVAL)
        while True:
            if self.pausing:
                # A child may have been created after the first request.
                self._ask_to_pause()
            changed = self.log.change_token()
            if changed != self._changed:
                self._changed = changed
                self._tell()
            await lookout.wait(POLL_INTERVAL if self.pausing else MAX_WAIT)

    def _tell(self) -> None:
        for happened in self.follower.news():
            self.show(happened)

    def _waits_until(self) -> float | None:
        states = [state_of(self.log, each) for each in family(self.log, self.run)]
        times = [each.until for each in states if each.status == "waiting" and each.reason in ("timer", "quota")]
        if times:
            times += [each.deadline for each in states]
        return min((time for time in times if time is not None), default=None)

    def _is_queued(self) -> bool:
        """Return whether the run or one that it called waits for its turn."""
        ours = make_family_test(self.log, self.run)
        wanted = Filter(root=root_of(self.log, self.run), status="queued")
        return any(map(ours, self.log.keys(wanted)))

    async def _await_turn(self) -> None:
        """Wait until something has changed that may make it the run's turn, or for a while."""
        self.on_queue()
        changed, loop = self.log.change_token(), asyncio.get_running_loop()
        until = loop.time() + ASK_AGAIN
        lookout = self._watcher.lookout(POLL_INTERVAL)
        while loop.time() < until and not self.pausing and self.log.change_token() == changed:
            await lookout.wait(until - loop.time())

    async def _sleep(self, until: float) -> None:
        """Wait for a time, or until a pause is requested, which is then handled as at any other place."""
        told, lookout = self._waits.told, self._watcher.lookout(POLL_INTERVAL)
        while self.supervisor.clock() < until and self._waits.told == told:
            await lookout.wait(min(POLL_INTERVAL, max(0.0, until - self.supervisor.clock())))
            if self.pausing or self._has_messages():
                return

    def _has_messages(self) -> bool:
        """Return whether somebody left a message; no background driver takes it up while we attend to the run."""
        ours = make_family_test(self.log, self.run)
        return any(ours(each) for each in self.log.pending_streams())


async def _wait_for_nothing() -> None:
    """Return at once."""


def lacks_login(log: Log, run: str) -> bool:
    """Return whether a run waits for a person to log an agent in: then its old environment is of no use."""
    try:
        at = find_acting_run(log, run).acting
    except (StorageDamaged, StorageTooNew):
        return False
    refused = at.failure is not None and at.failure.hindrance == "person"
    return at.status == "blocked" and (at.reason == "login" or refused)


async def wait_until_inbox_empty(log: Log, run: str) -> bool:
    """Wait until the process that drives a run has processed its messages; return False if it does not."""
    ends = asyncio.get_running_loop().time() + TIMEOUT
    watcher = Watcher(log)
    lookout = watcher.lookout(POLL_INTERVAL)
    try:
        while log.inbox(run, limit=1):
            if asyncio.get_running_loop().time() > ends or log.holder(run) is None:
                return not log.inbox(run, limit=1)
            await lookout.wait()
    finally:
        watcher.close()
    return True

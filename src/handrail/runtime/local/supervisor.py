"""Drives many runs at once, up to a limit; each needs its lease, and the one that waited longest goes first.

1. The log's change token shows whether anything happened; only when it differs are runs looked for.
2. A run waits in line for a free slot; one that moved and can move again goes to the end of the line.
3. A fault of the machine blocks the run that met it and no other. Where even that cannot be recorded, what is
recorded stays as it is, and the fault is raised once nothing else can move.
4. A run that another process attends to is left to it, with all runs that come from it, and checked again later.
5. A run that waits for its turn is tried when its turn seems to have come: after any change, and after a while, since
the process that holds up the queue may have died.
6. A run whose history cannot be read is listed as such, reported once, and left alone until its history changes.
Messages and timers of a stream that is not a run, or of a run that does not exist, are ignored.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from handrail.engine.fold.apply import apply
from handrail.engine.state.transitions import ALLOWED
from handrail.errors import (
    EnvironmentFault,
    HandrailError,
    LogConflict,
    NotFound,
    StorageDamaged,
    StorageFault,
    StorageTooNew,
)
from handrail.late_import import late_import
from handrail.model.history.events import RunBlocked
from handrail.model.history.run_lines import Filter, is_run
from handrail.model.history.run_state import RunState
from handrail.ports.log import Append, Holder, Lease, Log, Timer
from handrail.runtime.driver import Driver, Handlers
from handrail.runtime.event_records import encode_event, redact_event
from handrail.runtime.history import StateCache, state_of
from handrail.runtime.ports import Clock
from handrail.runtime.run_summary import summary_of, timers_of, unreadable_summary
from handrail.runtime.watcher import MAX_WAIT, Watcher

if TYPE_CHECKING:
    from handrail.runtime import admission
else:
    admission = late_import("handrail.runtime.admission")

OVER = ("succeeded", "failed", "cancelled")
IDLE_INTERVAL = 0.05
"""Seconds between two looks at the log if something happens all the time, or nobody tells."""
HELD_INTERVAL = 1.0
"""Seconds after which a run that another process drives is tried again: that process may have died."""


class Companion(Protocol):
    """What goes on beside the runs that are driven, such as reporting on their issues; it never fails or delays one."""

    async def attend(self, wait: "Callable[[float], Awaitable[object]]") -> None:
        """Go on until cancelled; `wait` returns after a change of the log, or after so many seconds."""
        ...

    async def finish(self) -> None:
        """Complete what must not be left undone, within a limited time."""
        ...

    def is_waiting(self) -> bool:
        """Whether it has to be there later, even if no run moves."""
        ...


@dataclass(slots=True)
class Supervisor:
    """Finds runs that can move, and drives them."""

    log: Log
    handlers: Handlers
    clock: Clock
    name: str
    limit: int = 8
    wanted: Callable[[str], bool] = lambda _: True
    on_state: Callable[[RunState], None] = lambda _: None
    announce: Callable[[RunState], "Coroutine[Any, Any, None] | None"] = lambda _: None
    """Returns the task that notifies a person about a run that was driven; it runs beside the runs."""
    find_companion: Callable[[], Companion | None] = lambda: None
    """Returns what goes on beside the runs, as soon as one of them needs it."""
    on_unreadable: Callable[[HandrailError], None] = lambda _: None
    is_attended: Callable[[str], bool] = lambda _: False
    """Whether another process attends to a run."""
    leases: dict[str, Lease] = field(default_factory=dict[str, Lease])
    """Leases of runs that this process took before there was anything to drive."""
    watcher: Watcher | None = None
    """Tells of changes of the log; without it they are asked for."""
    _busy: dict[str, "asyncio.Task[None]"] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _notices: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])
    _line: dict[str, None] = field(default_factory=dict[str, None])
    """Runs that can move and have no slot yet, in order."""
    _settled: dict[str, int] = field(default_factory=dict[str, int])
    """The positions at which the runs that were driven here stood afterwards."""
    _held: dict[str, float] = field(default_factory=dict[str, float])
    _attended: dict[str, float] = field(default_factory=dict[str, float])
    """Runs that others attend to, as of the last check, with the time of the next one."""
    _faults: dict[str, HandrailError] = field(default_factory=dict[str, HandrailError])
    """Faults that could not be recorded."""
    _spent: set[Timer] = field(default_factory=set[Timer])
    """Timers that were due when their run was driven, and did nothing: they never will."""
    _unreadable: dict[str, str] = field(default_factory=dict[str, str])
    """Unreadable runs, each with the hash of the event at which its history ended then."""
    _queued: dict[str, float] = field(default_factory=dict[str, float])
    """Runs that wait for their turn, each with the time of its next check."""
    _places: "admission.AdmissionSlots | None" = None
    _seen: int | None = None
    _known: StateCache = field(default_factory=StateCache)

    def retry_at(self) -> float | None:
        """Return when, on the loop's clock, a run that another process drives or attends to is worth another try."""
        return min((*self._held.values(), *self._attended.values(), *self._queued.values()), default=None)

    def open_places(self) -> "admission.AdmissionSlots":
        """Return the places that this process holds, for a run that needs one."""
        if self._places is None:
            self._places = admission.AdmissionSlots(self.log, self.name)
        return self._places

    async def run_until_idle(self) -> None:
        """Drive until no wanted run can move without help; when cancelled, release the runs but not their processes."""
        self._seen = None
        lookout = None if self.watcher is None else self.watcher.lookout(IDLE_INTERVAL)
        try:
            while True:
                self._look()
                self._fill()
                if self._places is not None and self._places.keep((*self._busy, *self._line)):
                    # A run that waits for a place may be one of ours.
                    continue
                if not self._busy and not self._notices:
                    break
                under_way = (*self._busy.values(), *self._notices)
                if lookout is None:
                    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED, timeout=IDLE_INTERVAL)
                else:
                    await lookout.wait_for_first(under_way, self._patience())
                self._clear()
        finally:
            await self._release_all()
        self._raise_fault()

    def _patience(self) -> float:
        """Return for how long nothing can happen of which nobody tells."""
        now, retry = self.clock(), self.retry_at()
        times = [MAX_WAIT, *(each.due - now for each in self.timers(now + MAX_WAIT))]
        if retry is not None:
            times.append(retry - asyncio.get_running_loop().time())
        return max(IDLE_INTERVAL, min(times))

    def find_due_runs(self) -> tuple[str, ...]:
        """List the readable runs that have a message or a due timer."""
        return self._filter_movable((*self.log.pending_streams(), *self._due_streams()))

    def is_movable(self, stream: str) -> bool:
        """Whether a stream is a run that exists and is not known to be unreadable."""
        if not is_run(stream):
            return False
        end = self.log.last(stream)
        return end.seq > 0 and self._unreadable.get(stream) != end.hash

    def _filter_movable(self, streams: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(stream for stream in dict.fromkeys(streams) if self.is_movable(stream))

    def timers(self, until: float) -> tuple[Timer, ...]:
        """List the timers up to a time that may move a run, the earliest first."""
        return tuple(each for each in self.log.due(until) if each not in self._spent and self.is_movable(each.stream))

    def _due_streams(self) -> tuple[str, ...]:
        found = tuple(each for each in self.log.due(self.clock()) if is_run(each.stream))
        self._spent.intersection_update(found)
        return tuple(timer.stream for timer in found if timer not in self._spent)

    def _look(self) -> None:
        """Put in line the runs that are running, have a message, or whose timer is due."""
        due = self._due_streams()
        seen, before = self.log.change_token(), self._seen
        now = asyncio.get_running_loop().time()
        asked_again = any(again <= now for again in self._queued.values())
        if seen == before and not due and not self._held and not self._attended and not asked_again:
            return
        self._seen = seen
        self._attended.clear()
        # Their driver may have finished them: then no change of the log would ever ask for them again.
        self._held = {run: again for run, again in self._held.items() if again > now}
        rows = sorted((row.position, row.key) for row in self.log.summaries(Filter(status="running")))
        moving = [run for position, run in rows if self._settled.get(run) != position]
        wanted = filter(self._can_drive, (*self.log.pending_streams(), *due, *moving, *self._select_queued(now)))
        self._line.update(dict.fromkeys(run for run in self._filter_movable(tuple(wanted)) if run not in self._line))

    def _select_queued(self, now: float) -> list[str]:
        """List the queued runs that are new here, or whose turn it seems to be."""
        rows = sorted((row.position, row.key) for row in self.log.summaries(Filter(status="queued")))
        ours = [(position, run) for position, run in rows if self.wanted(run)]
        self._queued = {run: now + HELD_INTERVAL for _, run in ours}
        new = [run for position, run in ours if self._settled.get(run) != position]
        old = [run for _, run in ours if run not in new]
        come = admission.select_admissible(self.log, old) if old else ()
        return [*new, *(run for run in old if run in come)]

    def _can_drive(self, run: str) -> bool:
        if run in self._busy or run in self._faults or run in self._held or not self.wanted(run):
            return False
        if self.is_attended(run):
            self._attended[run] = asyncio.get_running_loop().time() + HELD_INTERVAL
        return run not in self._attended

    def _fill(self) -> None:
        while self._line and len(self._busy) < self.limit:
            run = next(iter(self._line))
            del self._line[run]
            self._busy[run] = asyncio.create_task(self._drive_run(run))

    def _clear(self) -> None:
        done = [run for run, task in self._busy.items() if task.done()]
        for run in done:
            self._busy.pop(run).result()
            self._seen = None
        self._notices = {each for each in self._notices if not each.done()}

    def _settle(self, state: RunState) -> None:
        """Report the state of a run that was driven, to observers and to the person that it needs."""
        self.on_state(state)
        telling = self.announce(state)
        if telling is not None:
            self._notices.add(asyncio.create_task(telling))

    async def _release_all(self) -> None:
        left = (*self._busy.values(), *self._notices)
        self._busy, self._line, self._notices = {}, {}, set()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for run in tuple(self.leases):
            with contextlib.suppress(StorageFault):
                self.log.release(self.leases.pop(run))
        if self._places is not None:
            with contextlib.suppress(StorageFault):
                self._places.keep(())

    def _raise_fault(self) -> None:
        faults, self._faults = self._faults, {}
        for fault in faults.values():
            raise fault

    async def _drive_run(self, run: str) -> None:
        try:
            lease = self.leases.pop(run, None) or self.log.acquire(run, self.name)
        except StorageFault as fault:
            self._faults[run] = fault
            return
        if isinstance(lease, Holder):
            self._held[run] = asyncio.get_running_loop().time() + HELD_INTERVAL
            return
        due: set[Timer] = set()
        try:
            # Read before driving: a timer that is set and comes due meanwhile has not been handled.
            with contextlib.suppress(StorageFault):
                due.update(timer for timer in self.log.due(self.clock()) if timer.stream == run)
            await self._drive(lease)
        finally:
            # Even where the database refuses, the kernel lock is released.
            with contextlib.suppress(StorageFault):
                self._spent.update(due.intersection(self.log.due(self.clock())))
                self._settled[run] = self._position(run)
            if self._places is not None:
                with contextlib.suppress(StorageFault):
                    self._places.settle(run)
            with contextlib.suppress(StorageFault):
                self.log.release(lease)

    async def _drive(self, lease: Lease) -> None:
        try:
            driver = Driver(self.log, lease, self.handlers, self.clock, self._known, places=self.open_places)
            driver.watcher = self.watcher
            state = await driver.drive()
        except LogConflict:
            return
        except HandrailError as error:
            self._handle_fault(lease, error)
        except Exception as error:  # noqa: BLE001 - one run's misfortune must not end the others
            what = f"unexpected error: {type(error).__name__}: {error}"
            self._handle_fault(
                lease, EnvironmentFault(what, next_step="resume the run; if it happens again, report it")
            )
        else:
            self._settle(state)

    def _position(self, run: str) -> int:
        """Return the position of a run's last event, as its summary has it."""
        end = self.log.last(run).seq
        return self.log.read(run, after=end - 1, limit=1)[0].position if end else 0

    def _handle_fault(self, lease: Lease, error: HandrailError) -> None:
        """Block a run after a fault of the machine, with what to do; nothing recorded is lost."""
        try:
            before = state_of(self.log, lease.stream)
            if "run_blocked" in ALLOWED[before.status]:
                self._block(lease, before, error)
            elif isinstance(error, StorageDamaged | StorageTooNew):
                # The run is marked as unreadable already, and a message for it changes nothing.
                self._unreadable[before.run] = self.log.last(before.run).hash
            else:
                self._faults[lease.stream] = error
        except NotFound:
            # The run was removed from the log meanwhile.
            return
        except (StorageDamaged, StorageTooNew) as found:
            self._pass_over(lease, found)
        except HandrailError:
            self._faults[lease.stream] = error

    def _pass_over(self, lease: Lease, error: HandrailError) -> None:
        """Leave an unreadable run alone, and mark it as unreadable in lists."""
        run = lease.stream
        end = self.log.last(run)
        self._unreadable[run] = end.hash
        lines = {row.key: row.document for row in self.log.summaries(Filter(key=run))}
        if run not in lines or lines[run].get("status") not in OVER:
            summary = unreadable_summary(run, lines.get(run, {}), error)
            with contextlib.suppress(StorageFault, LogConflict):
                self.log.append([Append(run, end.seq, summary=summary)], [lease])
        self.on_unreadable(error)

    def _block(self, lease: Lease, before: RunState, error: HandrailError) -> None:
        hint = error.next_step or "fix that, then resume the run"
        blocked = RunBlocked(reason="fault", message=error.message, next_step=hint, at=self.clock())
        event = redact_event(blocked, self.handlers.environments.environment_of(before.run).redactor)
        state = apply(before, event, before.seq + 1, self.log.get_blob)
        events, timers = (encode_event(event),), timers_of(before, state)
        self.log.append([Append(state.run, before.seq, events, timers=timers, summary=summary_of(state))], [lease])
        self._settle(state)

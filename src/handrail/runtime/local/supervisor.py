"""Drives many runs at once, each by whoever gets its lease, up to a limit; whoever waited longest goes first.

1. Whether anything happened is asked of the log's change token; only when it differs are runs looked for.
2. A run waits in line for a free place; one that moved and can move again goes to the end of the line.
3. A fault of the machine blocks the run that met it and no other. Where even that cannot be recorded, what is
   recorded stays as it is, and the fault is raised once nothing else can move.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.engine.fold.apply import apply
from handrail.engine.state.transitions import ALLOWED
from handrail.errors import EnvironmentFault, HandrailError, LogConflict, StorageFault
from handrail.model.history.events import RunBlocked
from handrail.model.history.run_state import RunState
from handrail.ports.log import Append, Filter, Holder, Lease, Log
from handrail.runtime.driver import Driver, Handlers
from handrail.runtime.event_records import to_log, without_secrets
from handrail.runtime.history import Known, state_of
from handrail.runtime.ports import Clock
from handrail.runtime.run_summary import summary_of, timers_of

IDLE = 0.05
HELD = 1.0
"""Seconds after which a run that another process drives is tried again: that process may have died."""


@dataclass(slots=True)
class Supervisor:
    """Looks for runs that can move, and moves them."""

    log: Log
    handlers: Handlers
    clock: Clock
    name: str
    limit: int = 8
    wanted: Callable[[str], bool] = lambda _: True
    on_state: Callable[[RunState], None] = lambda _: None
    _busy: dict[str, "asyncio.Task[None]"] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _line: dict[str, None] = field(default_factory=dict[str, None])
    """Runs that can move and have no place yet, the first one first."""
    _settled: dict[str, int] = field(default_factory=dict[str, int])
    """Where the runs that were driven here stood afterwards."""
    _held: dict[str, float] = field(default_factory=dict[str, float])
    _faults: dict[str, HandrailError] = field(default_factory=dict[str, HandrailError])
    """What could not be recorded."""
    _seen: int | None = None
    _known: Known = field(default_factory=Known)

    def retry_at(self) -> float | None:
        """Say when, on the loop's clock, a run that another process drives is worth another try."""
        return min(self._held.values(), default=None)

    async def run_until_idle(self) -> None:
        """Go on until no wanted run can move by itself; cancelled, it lets go of all and leaves what they started."""
        self._seen = None
        try:
            while True:
                self._look()
                self._fill()
                if not self._busy:
                    break
                await asyncio.wait(self._busy.values(), return_when=asyncio.FIRST_COMPLETED, timeout=IDLE)
                self._clear()
        finally:
            await self._let_go()
        self._raise_fault()

    def _look(self) -> None:
        """Put runs in line that are running, have a message, or whose time has come."""
        due = [timer.stream for timer in self.log.due(self.clock())]
        seen, before = self.log.changed(), self._seen
        if seen == before and not due and not self._held:
            return
        self._seen = seen
        now = asyncio.get_running_loop().time()
        # Whoever drove them may have finished them: then nothing would ever ask for them again.
        self._held = {run: again for run, again in self._held.items() if again > now}
        rows = sorted((row.position, row.key) for row in self.log.summaries(Filter(status="running")))
        moving = [run for position, run in rows if self._settled.get(run) != position]
        for run in (*self.log.pending_streams(), *due, *moving):
            if self._may(run):
                self._line.setdefault(run)

    def _may(self, run: str) -> bool:
        return run not in self._busy and run not in self._faults and run not in self._held and self.wanted(run)

    def _fill(self) -> None:
        while self._line and len(self._busy) < self.limit:
            run = next(iter(self._line))
            del self._line[run]
            self._busy[run] = asyncio.create_task(self._one(run))

    def _clear(self) -> None:
        done = [run for run, task in self._busy.items() if task.done()]
        for run in done:
            self._busy.pop(run).result()
            self._seen = None

    async def _let_go(self) -> None:
        left = tuple(self._busy.values())
        self._busy, self._line = {}, {}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _raise_fault(self) -> None:
        faults, self._faults = self._faults, {}
        for fault in faults.values():
            raise fault

    async def _one(self, run: str) -> None:
        try:
            lease = self.log.acquire(run, self.name)
        except StorageFault as fault:
            self._faults[run] = fault
            return
        if isinstance(lease, Holder):
            self._held[run] = asyncio.get_running_loop().time() + HELD
            return
        try:
            await self._drive(lease)
        finally:
            # Where the database refuses, the kernel's lock is let go all the same.
            with contextlib.suppress(StorageFault):
                self._settled[run] = self._position(run)
                self.log.release(lease)

    async def _drive(self, lease: Lease) -> None:
        try:
            state = await Driver(self.log, lease, self.handlers, self.clock, self._known).drive()
        except LogConflict:
            return
        except HandrailError as error:
            self._fault(lease, error)
        except Exception as error:  # noqa: BLE001 - one run's misfortune must not end the others
            what = f"something that should not happen: {type(error).__name__}: {error}"
            self._fault(lease, EnvironmentFault(what, next_step="resume the run; if it comes again, report it"))
        else:
            self.on_state(state)

    def _position(self, run: str) -> int:
        """The position of a run's last event, as its summary has it."""
        end = self.log.last(run).seq
        return self.log.read(run, after=end - 1, limit=1)[0].position if end else 0

    def _fault(self, lease: Lease, error: HandrailError) -> None:
        """The machine failed us: the run is blocked with what to do, and nothing recorded is lost."""
        try:
            before = state_of(self.log, lease.stream)
            if "run_blocked" in ALLOWED[before.status]:
                self._block(lease, before, error)
            else:
                self._faults[lease.stream] = error
        except HandrailError:
            self._faults[lease.stream] = error

    def _block(self, lease: Lease, before: RunState, error: HandrailError) -> None:
        hint = error.next_step or f"mend it, then: handrail resume {before.run}"
        blocked = RunBlocked(reason="fault", message=error.message, next_step=hint, at=self.clock())
        event = without_secrets(blocked, self.handlers.environments.for_run(before.run).redactor)
        state = apply(before, event, before.seq + 1, self.log.get_blob)
        events, timers = (to_log(event),), timers_of(before, state)
        self.log.append([Append(state.run, before.seq, events, timers=timers, summary=summary_of(state))], [lease])
        self.on_state(state)

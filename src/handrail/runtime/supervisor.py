"""Drives many runs at once, each by whoever gets its lease, up to a limit; whoever waited longest goes first."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.errors import HandrailError, LeaseLost
from handrail.model.events import RunBlocked
from handrail.model.run import RunState
from handrail.ports.log import Append, Filter, Holder, Lease, Log, Row
from handrail.runtime.driver import Driver
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands import CommandHandler
from handrail.runtime.histories import state_of
from handrail.runtime.ports import Clock
from handrail.runtime.records import to_log
from handrail.runtime.summaries import summary_of

IDLE = 0.05


@dataclass(slots=True)
class Supervisor:
    """Looks for runs that can move, and moves them."""

    log: Log
    commands: CommandHandler
    children: ChildHandler
    clock: Clock
    name: str
    limit: int = 8
    wanted: Callable[[str], bool] = lambda _: True
    on_state: Callable[[RunState], None] = lambda _: None
    _busy: dict[str, "asyncio.Task[None]"] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _settled: dict[str, int] = field(default_factory=dict[str, int])

    async def run_until_idle(self) -> None:
        """Go on until no wanted run can move by itself."""
        while True:
            for run in self._movable():
                if len(self._busy) < self.limit:
                    self._busy[run] = asyncio.create_task(self._one(run))
            if not self._busy:
                return
            await asyncio.wait(self._busy.values(), return_when=asyncio.FIRST_COMPLETED, timeout=IDLE)
            self._busy = {run: task for run, task in self._busy.items() if not task.done() or _raise(task)}

    def _movable(self) -> list[str]:
        """Runs that are running, have a message, or whose time has come; those that moved last come last."""
        messages = set(self.log.pending_streams())
        due = {timer.stream for timer in self.log.due(self.clock())}
        rows = self.log.summaries(Filter())
        found = [(row.position, row.key) for row in rows if self._can_move(row, messages | due)]
        return [run for _, run in sorted(found) if run not in self._busy]

    def _can_move(self, row: Row, called: set[str]) -> bool:
        if not self.wanted(row.key):
            return False
        return row.key in called or (
            row.document.get("status") == "running" and self._settled.get(row.key) != row.position
        )

    async def _one(self, run: str) -> None:
        lease = self.log.acquire(run, self.name)
        if isinstance(lease, Holder):
            self._settled[run] = self._position(run)
            return
        try:
            driver = Driver(self.log, lease, self.commands, self.children, self.clock)
            self.on_state(await driver.drive())
        except LeaseLost:
            pass
        except HandrailError as error:
            self._fault(lease, error)
        finally:
            self._settled[run] = self._position(run)
            self.log.release(lease)

    def _position(self, run: str) -> int:
        rows = self.log.summaries(Filter(prefix=run))
        return next((row.position for row in rows if row.key == run), 0)

    def _fault(self, lease: Lease, error: HandrailError) -> None:
        """The machine failed us: the run is blocked with what to do, and nothing recorded is lost."""
        state = state_of(self.log, lease.stream)
        event = RunBlocked(reason="fault", message=error.message, next_step=error.next_step or "", at=self.clock())
        summary = {**summary_of(state), "status": "blocked", "reason": "fault", "message": error.message}
        self.log.append([Append(state.run, state.seq, (to_log(event),), summary=summary)], [lease])


def _raise(task: "asyncio.Task[None]") -> bool:
    task.result()
    return False

"""Waits that do not become longer when the clock is set back.

Timers are stored as times of day, so that they outlive the process. The waiting process also has a steady clock, which
nobody can set. A run whose time has come by the time of day alone finds out when it is driven, and waits on
(`runtime.ports`). A run whose time has come by the steady clock alone has to be notified, which is done here.

1. While nobody sets the clock, both agree, and nothing is stored here.
2. When the clock jumps, each active timer gets a deadline on the steady clock, which no later jump moves. The run knows
which clock the timer meant, since it notes the clock before it sets a timer: a run that was driven between the jump and
the check that notices it meant the clock as it is now, any other run the clock as it was.
3. At the start, each run knows how the clock stood when it began to wait, unless the machine was rebooted. A wait from
before the reboot that was recorded later than now gets its whole length, from now on.
4. That a time has come although the clock denies it is sent to the run as a message, so that its driver sees it.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from handrail.errors import NotFound, StorageDamaged, StorageFault, StorageTooNew
from handrail.model.history.run_lines import is_run
from handrail.model.history.run_state import CLOCK_JUMP, RunState
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log, Timer
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of
from handrail.runtime.ports import Clock, ClockReading, SteadyClock, steady_time
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.watcher import MAX_WAIT

POLL_INTERVAL = 0.05


@dataclass(slots=True)
class TimerWatch:
    """Watches the clock on behalf of the timers of a log."""

    log: Log
    environments: RunEnvironments
    clock: Clock
    steady: Clock | None = None
    """A clock that nobody can set, where `clock` has none of its own."""
    wanted: Callable[[str], bool] = lambda _: True
    told: int = 0
    """How many times a run was notified."""
    _ahead: float | None = None
    """How far the clock was ahead of the steady one at the last check."""
    _deadlines: dict[Timer, float] = field(default_factory=dict[Timer, float])

    @property
    def has_deadlines(self) -> bool:
        """Whether a deadline is pending that the clock does not show."""
        return bool(self._deadlines)

    async def watch(self) -> None:
        """Check the clocks periodically, for as long as anybody drives."""
        while True:
            # The driver meets the same fault, and reports it.
            with contextlib.suppress(StorageFault):
                self.look()
            await asyncio.sleep(self._patience())

    def _patience(self) -> float:
        """Return the seconds until the next deadline, or until the clocks are compared again."""
        steady = self._read()
        left = (deadline - (steady.now - steady.ahead) for deadline in self._deadlines.values())
        return max(POLL_INTERVAL, min((MAX_WAIT, *left)))

    def look(self) -> None:
        """Compare the clocks, and notify the runs whose time has come by the steady one alone."""
        now, ahead = self._read()
        steady = now - ahead
        if self._ahead is None:
            self._begin(now, steady)
        elif abs(ahead - self._ahead) > CLOCK_JUMP:
            self._keep(self._ahead)
        self._ahead = ahead
        come = [timer for timer, deadline in self._deadlines.items() if deadline <= steady]
        if come:
            self._tell(come)

    def _read(self) -> ClockReading:
        if isinstance(self.clock, SteadyClock):
            return self.clock.read()
        now = self.clock()
        return ClockReading(now, now - (self.steady or time.monotonic)())

    def _begin(self, now: float, steady: float) -> None:
        for timer, state in self._timers_with_states():
            left = self._remaining_seconds(timer, state, now)
            if left < timer.due - now - CLOCK_JUMP:
                self._deadlines[timer] = steady + left

    def _remaining_seconds(self, timer: Timer, state: RunState, now: float) -> float:
        """Compute the seconds that are left of a wait, as far as its run knows."""
        if self._knows_clock(state):
            return timer.due - steady_time(self.clock, state)
        latest = self.log.read(timer.stream, after=state.seq - 1, limit=1)
        return timer.due - max(now, decode_event(latest[0]).at)

    def _keep(self, ahead: float) -> None:
        for timer, state in self._timers_with_states():
            by = state.ahead if self._knows_clock(state) else ahead
            self._deadlines.setdefault(timer, timer.due - by)

    def _knows_clock(self, state: RunState) -> bool:
        return isinstance(self.clock, SteadyClock) and state.boot == self.clock.boot

    def _timers_with_states(self) -> Iterator[tuple[Timer, RunState]]:
        """Yield the active timers with the states of their runs; unreadable runs are reported by their driver."""
        for timer in self._pending_timers():
            with contextlib.suppress(StorageDamaged, StorageTooNew, NotFound):
                yield timer, state_of(self.log, timer.stream)

    def _pending_timers(self) -> list[Timer]:
        return [timer for timer in self.log.due(math.inf) if is_run(timer.stream) and self.wanted(timer.stream)]

    def _tell(self, come: list[Timer]) -> None:
        still = set(self._pending_timers())
        for timer in come:
            if timer in still:
                key = f"time-came:{timer.key}:{timer.due!r}:{self.log.last(timer.stream).seq}"
                writer = RunWriter(self.log, self.environments.environment_of(timer.stream).redactor)
                writer.send(timer.stream, key, "time_came", key=timer.key, due=timer.due)
                self.told += 1
            del self._deadlines[timer]

"""Waits that a clock which is set back must not make longer.

Timers are kept as times of day, so that they outlive the process. Whoever waits for them also has a steady clock, which
nobody can set. A run whose time has come by the time of day alone finds out when it is driven, and waits on
(`runtime.ports`). A run whose time has come by the steady clock alone has to be told, which is done here.

1. While nobody sets the clock both say the same, and nothing is kept here.
2. When it jumps, each timer that is set gets a deadline on the steady clock, which no later jump moves. Its run knows
   by which clock it was meant, since it takes note of the clock before it sets a timer: a run that was driven between
   the jump and the look that sees it meant the clock as it is now, any other the clock as it was.
3. When we begin, each run knows how the clock stood when it began to wait, unless the machine was started again. A wait
   that was recorded later than now, before that, gets its whole length, from now on.
4. That a time has come although the clock denies it is a message to the run, so that whoever drives it hears of it.
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
from handrail.runtime.event_records import from_log
from handrail.runtime.history import state_of
from handrail.runtime.ports import Clock, Reading, SteadyClock, now_as_known
from handrail.runtime.run_writer import RunWriter

LOOK_EVERY = 0.05


@dataclass(slots=True)
class Waits:
    """Watches the clock on behalf of the timers of a log."""

    log: Log
    environments: RunEnvironments
    clock: Clock
    steady: Clock | None = None
    """What nobody can set, where the clock does not know it itself."""
    wanted: Callable[[str], bool] = lambda _: True
    told: int = 0
    """How many times a run was told."""
    _ahead: float | None = None
    """How far the clock was ahead of the steady one at the last look."""
    _deadlines: dict[Timer, float] = field(default_factory=dict[Timer, float])

    @property
    def waiting(self) -> bool:
        """Whether a time is waited for that the clock does not tell."""
        return bool(self._deadlines)

    async def watch(self) -> None:
        """Look again and again, for as long as anybody drives."""
        while True:
            # Whoever drives meets the same fault, and says it.
            with contextlib.suppress(StorageFault):
                self.look()
            await asyncio.sleep(LOOK_EVERY)

    def look(self) -> None:
        """Take note of how the clocks stand, and tell the runs whose time has come by the steady one alone."""
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

    def _read(self) -> Reading:
        if isinstance(self.clock, SteadyClock):
            return self.clock.read()
        now = self.clock()
        return Reading(now, now - (self.steady or time.monotonic)())

    def _begin(self, now: float, steady: float) -> None:
        for timer, state in self._meant():
            left = self._left(timer, state, now)
            if left < timer.due - now - CLOCK_JUMP:
                self._deadlines[timer] = steady + left

    def _left(self, timer: Timer, state: RunState, now: float) -> float:
        """The seconds that are left of a wait, as far as its run knows."""
        if self._knows_clock(state):
            return timer.due - now_as_known(self.clock, state)
        latest = self.log.read(timer.stream, after=state.seq - 1, limit=1)
        return timer.due - max(now, from_log(latest[0]).at)

    def _keep(self, ahead: float) -> None:
        for timer, state in self._meant():
            by = state.ahead if self._knows_clock(state) else ahead
            self._deadlines.setdefault(timer, timer.due - by)

    def _knows_clock(self, state: RunState) -> bool:
        return isinstance(self.clock, SteadyClock) and state.boot == self.clock.boot

    def _meant(self) -> Iterator[tuple[Timer, RunState]]:
        """The timers that are set, with the states of their runs; whoever drives a run says that it cannot be read."""
        for timer in self._set():
            with contextlib.suppress(StorageDamaged, StorageTooNew, NotFound):
                yield timer, state_of(self.log, timer.stream)

    def _set(self) -> list[Timer]:
        return [timer for timer in self.log.due(math.inf) if is_run(timer.stream) and self.wanted(timer.stream)]

    def _tell(self, come: list[Timer]) -> None:
        still = set(self._set())
        for timer in come:
            if timer in still:
                key = f"time-came:{timer.key}:{timer.due!r}:{self.log.last(timer.stream).seq}"
                writer = RunWriter(self.log, self.environments.for_run(timer.stream).redactor)
                writer.send(timer.stream, key, "time_came", key=timer.key, due=timer.due)
                self.told += 1
            del self._deadlines[timer]

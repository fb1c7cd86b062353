"""What the runtime needs beside the log and processes: a clock, prepared commands, other workflows, flows.

The clock of the machine has beside it one that nobody can set. Events hold times of day, so that they mean something to
people, after a restart and on another machine. A time of day may be set, by a person or by the network, and then
differences between two of them say nothing. So each run knows how far the time of day was ahead of the seconds since
the machine was started, and of which start. Every process of the machine reads the same seconds, and the time in which
it sleeps counts.

1. Before anything is recorded the two are compared. Where the time of day has moved by itself, that is an event of its
   own, `clock_noted`, and the fold moves the times that are waited for or counted from by as much.
2. After another start of the machine, and on another one, there is nothing to compare with: the time of day counts.
3. A clock that is no `SteadyClock` has only the time of day.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.events import ClockNoted, Event, RunForked, RunStarted, StepBegan
from handrail.model.history.run_state import CLOCK_JUMP, RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import Command

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins
    from handrail.ports.flows import StartFlow

Clock: TypeAlias = Callable[[], float]


@frozen
class Prepared:
    """What to run, and the variables that carry its values."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


class Commands(Protocol):
    """Makes commands ready to run."""

    def prepare(
        self, command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str]
    ) -> Prepared | str:
        """Give what to run; a plain text says why a value cannot be passed, as it was `written`."""
        ...


@frozen
class Pinned:
    """A workflow that was found and compiled."""

    plan: Plan
    definition: str
    written: bytes = b""
    """The plan as it is kept, where that is known already: writing a long one takes a while."""
    calls: "Mapping[str, Pinned]" = field(default_factory=dict[str, "Pinned"])
    """Every workflow that it or one of these may call, by the name in the plan."""


Workflows: TypeAlias = Callable[[str, str], Pinned]
"""Finds and compiles a workflow by its name, seen from a run's workspace; raises what a person can act on."""


@frozen
class Flows:
    """What dynamic steps need from outside: a process for each coroutine, and the library that its calls may name."""

    start: "StartFlow"
    builtins: "Callable[[], Builtins]"


TOGETHER = 0.01
"""Seconds within which both clocks are read, or they are read again: a length is so much longer or shorter at most."""
TRIES = 20
RECENT = 60.0
"""Seconds within which a time was taken from the clock as it stands now."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIME_NAMESPACE = Path("/proc/self/ns/time")


class Reading(NamedTuple):
    """Both clocks at one moment."""

    now: float
    ahead: float
    """How far the time of day is ahead of the seconds since the machine was started."""


@dataclass(frozen=True, slots=True)
class SteadyClock:
    """Tells the time of day, and knows how it stands to a clock that nobody can set."""

    wall: Clock
    steady: Clock
    boot: str
    """Names the start of the machine from which the steady clock counts."""

    def __call__(self) -> float:
        """Give the time of day."""
        return self.wall()

    def read(self) -> Reading:
        """Read both clocks, as closely together as a busy machine allows."""
        before, now, after = self.steady(), self.wall(), self.steady()
        apart, found = after - before, Reading(now, now - after)
        for _ in range(TRIES):
            if apart <= TOGETHER:
                break
            before, now, after = after, self.wall(), self.steady()
            if after - before < apart:
                apart, found = after - before, Reading(now, now - after)
        return found


@cache
def machine_clock() -> SteadyClock:
    """Give the clock of this machine."""
    return SteadyClock(time.time, _seconds_since_start, _boot())


def _seconds_since_start() -> float:
    return time.clock_gettime(_STEADY)


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _boot() -> str:
    """Name this start of the machine; where it has no name, this process, whose readings no other can use."""
    try:
        # A container may count its seconds from another moment than the machine does.
        return f"{_BOOT_ID.read_text('ascii').strip()}/{_TIME_NAMESPACE.readlink()}"
    except OSError:
        return f"process-{os.urandom(8).hex()}"


def read_clock(clock: Clock, state: RunState) -> tuple[float, ClockNoted | None]:
    """Give the time, and what has to be recorded first where the clock is not as the run knows it."""
    if not isinstance(clock, SteadyClock):
        return clock(), None
    now, ahead = clock.read()
    if state.boot != clock.boot:
        return now, ClockNoted(boot=clock.boot, ahead=ahead, at=now)
    by = ahead - state.ahead
    return now, ClockNoted(boot=clock.boot, ahead=ahead, by=by, at=now) if abs(by) > CLOCK_JUMP else None


def is_set(clock: Clock, state: RunState) -> bool:
    """Tell whether the clock is not as the run knows it."""
    return read_clock(clock, state)[1] is not None


def now_as_known(clock: Clock, state: RunState) -> float:
    """Give the time as the clock would tell it if nobody had set it since the run's last event."""
    if isinstance(clock, SteadyClock) and clock.boot == state.boot:
        return clock.steady() + state.ahead
    return clock()


def since_began(clock: Clock, state: RunState, began: StepBegan) -> float:
    """Give the seconds since a step that is pending began, whoever set the clock meanwhile."""
    step = state.steps.get(began.address)
    began_at = began.at if step is None else step.began_at or began.at
    return max(0.0, now_as_known(clock, state) - began_at)


def by_new_clock(event: Event, now: float, jumps: Sequence[float]) -> Event:
    """Give an event that happened a moment ago with the time of the clock as it was set since, by the latest jumps."""
    times = accumulate(reversed(jumps), initial=event.at)
    at = min(times, key=lambda each: abs(each - now))
    return event if at == event.at else replace(event, at=at)


def with_clock(first: Event) -> Event:
    """Give the first event of a run with how the clock stands, if its time was taken from it."""
    if not isinstance(first, RunStarted | RunForked) or first.boot:
        return first
    clock = machine_clock()
    now, ahead = clock.read()
    return replace(first, boot=clock.boot, ahead=ahead) if abs(now - first.at) < RECENT else first

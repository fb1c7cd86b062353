"""What the runtime needs besides the log and processes: a clock, prepared commands, other workflows, flows.

The machine's clock is paired with one that nobody can set. Events hold times of day, so that they mean something to
people, after a restart and on another machine. A time of day may be set, by a person or by the network, and then
differences between two of them are meaningless. So each run knows how far the time of day was ahead of the seconds
since the machine booted, and which boot that was. Every process of the machine reads the same seconds, and time in
which the machine sleeps counts.

1. Before anything is recorded the two are compared. Where the time of day has jumped, that is an event of its own,
`clock_noted`, and the fold moves the times that are waited for or counted from by the same amount.
2. After a reboot, and on another machine, there is nothing to compare with: the time of day counts.
3. A clock that is not a `SteadyClock` has only the time of day.
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
class PreparedCommand:
    """A command line, and the variables that carry its values."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


class Commands(Protocol):
    """Prepares commands for running."""

    def prepare(
        self, command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str]
    ) -> PreparedCommand | str:
        """Build what to run; a plain text explains why a value, named as it was `written`, cannot be passed."""
        ...


@frozen
class PinnedWorkflow:
    """A workflow that was found and compiled."""

    plan: Plan
    definition: str
    written: bytes = b""
    """The serialized plan, where it is known already: serializing a long one takes a while."""
    calls: "Mapping[str, PinnedWorkflow]" = field(default_factory=dict[str, "PinnedWorkflow"])
    """Every workflow that it or one of these may call, by the name in the plan."""


Workflows: TypeAlias = Callable[[str, str], PinnedWorkflow]
"""Finds and compiles a workflow by its name, seen from a run's workspace; raises errors that a person can act on."""


@frozen
class Flows:
    """What dynamic steps need from outside: a process for each coroutine, and the library that its calls may name."""

    start: "StartFlow"
    builtins: "Callable[[], Builtins]"


MAX_SKEW = 0.01
"""Seconds within which both clocks are read, or they are read again: the largest error of a duration."""
MAX_TRIES = 20
RECENT = 60.0
"""Seconds within which a time counts as taken from the clock as it is set now."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIME_NAMESPACE = Path("/proc/self/ns/time")


class ClockReading(NamedTuple):
    """Both clocks read at the same moment."""

    now: float
    ahead: float
    """How far the time of day is ahead of the seconds since the machine booted."""


@dataclass(frozen=True, slots=True)
class SteadyClock:
    """Returns the time of day, and compares it with a clock that nobody can set."""

    wall: Clock
    steady: Clock
    boot: str
    """Identifies the boot of the machine from which the steady clock counts."""

    def __call__(self) -> float:
        """Return the time of day."""
        return self.wall()

    def read(self) -> ClockReading:
        """Read both clocks, as close together as a busy machine allows."""
        before, now, after = self.steady(), self.wall(), self.steady()
        apart, found = after - before, ClockReading(now, now - after)
        for _ in range(MAX_TRIES):
            if apart <= MAX_SKEW:
                break
            before, now, after = after, self.wall(), self.steady()
            if after - before < apart:
                apart, found = after - before, ClockReading(now, now - after)
        return found


@cache
def machine_clock() -> SteadyClock:
    """Return the clock of this machine."""
    return SteadyClock(time.time, _seconds_since_start, _boot())


def _seconds_since_start() -> float:
    return time.clock_gettime(_STEADY)


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _boot() -> str:
    """Identify this boot of the machine; where that is not possible, this process, whose readings no other can use."""
    try:
        # A container may count its seconds from a different start than the machine.
        return f"{_BOOT_ID.read_text('ascii').strip()}/{_TIME_NAMESPACE.readlink()}"
    except OSError:
        return f"process-{os.urandom(8).hex()}"


def read_clock(clock: Clock, state: RunState) -> tuple[float, ClockNoted | None]:
    """Return the time, and the event to record first where the clock was set since the run's last event."""
    if not isinstance(clock, SteadyClock):
        return clock(), None
    now, ahead = clock.read()
    if state.boot != clock.boot:
        return now, ClockNoted(boot=clock.boot, ahead=ahead, at=now)
    by = ahead - state.ahead
    return now, ClockNoted(boot=clock.boot, ahead=ahead, by=by, at=now) if abs(by) > CLOCK_JUMP else None


def is_set(clock: Clock, state: RunState) -> bool:
    """Whether the clock was set since the run's last event."""
    return read_clock(clock, state)[1] is not None


def steady_time(clock: Clock, state: RunState) -> float:
    """Return the time as the clock would show it if nobody had set it since the run's last event."""
    if isinstance(clock, SteadyClock) and clock.boot == state.boot:
        return clock.steady() + state.ahead
    return clock()


def step_duration(clock: Clock, state: RunState, began: StepBegan) -> float:
    """Return the seconds since a pending step began, even if the clock was set meanwhile."""
    step = state.steps.get(began.address)
    began_at = began.at if step is None else step.began_at or began.at
    return max(0.0, steady_time(clock, state) - began_at)


def adjust_to_clock(event: Event, now: float, jumps: Sequence[float]) -> Event:
    """Convert the time of an event that happened a moment ago to the clock as it was set since, by the latest jumps."""
    times = accumulate(reversed(jumps), initial=event.at)
    at = min(times, key=lambda each: abs(each - now))
    return event if at == event.at else replace(event, at=at)


def stamp_clock(first: Event) -> Event:
    """Add the clock's reading to the first event of a run, if its time was taken from that clock."""
    if not isinstance(first, RunStarted | RunForked) or first.boot:
        return first
    clock = machine_clock()
    now, ahead = clock.read()
    return replace(first, boot=clock.boot, ahead=ahead) if abs(now - first.at) < RECENT else first

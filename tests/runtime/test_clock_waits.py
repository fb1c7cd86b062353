"""A clock that is set: waits end when their length is over, by whichever clock says so first."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from handrail.model.history.events import TimerFired
from handrail.operations.driving.drive import Drive, EventFollower
from handrail.runtime.clock_waits import TimerWatch
from handrail.runtime.local.background_driver import BackgroundDriver
from handrail.wiring.system import ENVIRONMENTS
from support.runtime.room import LONG, Room, assert_sound, of_kind
from support.runtime.set_clock import SetClock

NOON = 1_000_000.0
HOUR = 3600.0
AGAIN = """
name: again
steps:
  - {name: x, command: 'echo x >> trace; test $(wc -l < trace) -gt 1', retry: {max: 3, backoff: WAIT}}
"""


@dataclass
class Clocks:
    """A clock on the wall that can be set, and one that cannot."""

    wall: float = NOON
    steady: float = 50.0

    def __call__(self) -> float:
        return self.wall

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.steady += seconds

    def waits(self, room: Room) -> TimerWatch:
        """Begin to watch, as a process does that begins now."""
        found = TimerWatch(room.log, ENVIRONMENTS, self, lambda: self.steady)
        found.look()
        return found


def _waiting(room: Room, clocks: Clocks, wait: str = "60m") -> str:
    run = room.start(AGAIN.replace("WAIT", wait))
    room.drive(clocks)
    assert room.state(run).reason == "timer"
    return run


def _tries(room: Room, clocks: Clocks, waits: TimerWatch) -> int:
    waits.look()
    room.drive(clocks)
    return len(room.trace())


@pytest.mark.parametrize("back", [10.0, HOUR / 2, 1000 * HOUR])
def test_a_clock_that_is_set_back_does_not_lengthen_a_wait(room: Room, back: float) -> None:
    clocks = Clocks()
    run = _waiting(room, clocks)
    waits = clocks.waits(room)
    clocks.passes(HOUR / 2)
    assert _tries(room, clocks, waits) == 1
    clocks.wall -= back
    assert _tries(room, clocks, waits) == 1
    clocks.passes(HOUR / 2 - 1)
    assert _tries(room, clocks, waits) == 1
    clocks.passes(1)
    assert _tries(room, clocks, waits) == 2
    assert room.state(run).status == "succeeded"
    assert room.log.due(9e9) == ()
    assert [event.key for event in of_kind(room.log, run, TimerFired)] == ["retry"]
    assert_sound(room.log)


def test_a_wait_that_began_after_the_clock_was_set_back_is_as_long_as_any(room: Room) -> None:
    clocks = Clocks()
    waits = clocks.waits(room)
    clocks.wall -= 10 * HOUR
    waits.look()
    _waiting(room, clocks)
    clocks.passes(HOUR - 1)
    assert _tries(room, clocks, waits) == 1
    clocks.passes(1)
    assert _tries(room, clocks, waits) == 2


@pytest.mark.parametrize("by", [-20 * 24 * HOUR, -10.0, 10.0, 20 * 24 * HOUR])
def test_a_wait_that_began_between_a_jump_of_the_clock_and_the_look_that_sees_it_has_its_length(
    room: Room, by: float
) -> None:
    clocks = SetClock()
    waits = TimerWatch(room.log, ENVIRONMENTS, clocks.clock)
    waits.look()
    run = room.start(AGAIN.replace("WAIT", "60m"))
    clocks.wall += by
    room.drive(clocks.clock)
    assert room.state(run).reason == "timer"
    for passed in (0.0, HOUR - 1):
        clocks.passes(passed)
        waits.look()
        room.drive(clocks.clock)
        assert len(room.trace()) == 1
    clocks.passes(1)
    waits.look()
    room.drive(clocks.clock)
    assert room.state(run).status == "succeeded"
    assert (len(room.trace()), room.log.inbox(run)) == (2, ())


def test_a_clock_that_went_wrong_and_was_put_right_does_not_shorten_a_wait_that_it_left_alone(room: Room) -> None:
    clocks = Clocks()
    _waiting(room, clocks, "72h")
    waits = clocks.waits(room)
    clocks.wall += 24 * HOUR
    assert _tries(room, clocks, waits) == 1
    clocks.wall -= 24 * HOUR
    clocks.passes(72 * HOUR - 1)
    assert _tries(room, clocks, waits) == 1
    clocks.passes(1)
    assert _tries(room, clocks, waits) == 2


def test_where_only_the_time_of_day_is_known_a_clock_that_is_set_forward_ends_the_waits_it_passes(room: Room) -> None:
    clocks = Clocks()
    _waiting(room, clocks)
    waits = clocks.waits(room)
    clocks.wall += 2 * HOUR
    assert _tries(room, clocks, waits) == 2


def test_a_process_that_begins_after_the_clock_was_set_back_waits_at_most_the_whole_length(room: Room) -> None:
    clocks = Clocks()
    _waiting(room, clocks)
    clocks.wall = 0.0
    waits = clocks.waits(room)
    clocks.passes(HOUR - 1)
    assert _tries(room, clocks, waits) == 1
    clocks.passes(1)
    assert _tries(room, clocks, waits) == 2


def test_an_approval_is_not_waited_for_longer_either_and_a_late_answer_counts(room: Room) -> None:
    clocks = Clocks()
    run = room.start("name: x\nsteps:\n  - {name: ok, type: approval, timeout: 1h}\n")
    room.drive(clocks)
    waits = clocks.waits(room)
    clocks.wall -= 5 * HOUR
    waits.look()
    clocks.passes(HOUR)
    waits.look()
    room.drive(clocks)
    assert room.state(run).message == "nobody answered 'ok' in time"


def test_a_time_that_nobody_waits_for_any_more_wakes_nobody(room: Room) -> None:
    clocks = Clocks()
    run = _waiting(room, clocks)
    waits = clocks.waits(room)
    clocks.wall -= HOUR
    waits.look()
    clocks.passes(2 * HOUR)
    room.drive(clocks)
    assert room.state(run).status == "succeeded"
    before = room.log.last(run)
    waits.look()
    assert (waits.told, room.log.inbox(run), room.log.last(run)) == (0, (), before)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not holds():
            await asyncio.sleep(0.01)


def test_the_background_driver_wakes_a_run_after_the_clock_was_set_back(room: Room) -> None:
    clocks = Clocks()
    run = room.start(AGAIN.replace("WAIT", "50m"))

    async def served() -> None:
        background = BackgroundDriver(room.log, room.supervisor(clocks), clocks, 0.2, lambda: clocks.steady)
        serving = asyncio.ensure_future(background.serve())
        await _until(lambda: room.state(run).reason == "timer")
        clocks.wall -= 100 * HOUR
        other = room.start("name: other\nsteps:\n  - {name: y, command: 'true'}\n")
        await _until(lambda: room.state(other).status == "succeeded")
        clocks.passes(50 * 60)
        await asyncio.wait_for(serving, LONG)

    asyncio.run(served())
    assert room.state(run).status == "succeeded"
    assert room.log.due(9e9) == ()


def test_a_terminal_that_waits_goes_on_after_the_clock_was_set_back(room: Room) -> None:
    clocks = Clocks()
    run = room.start(AGAIN.replace("WAIT", "300ms"))

    async def driven() -> None:
        drive = Drive(room.log, room.supervisor(clocks), run, lambda _: None, EventFollower(room.log, run))
        going = asyncio.ensure_future(drive.go())
        await _until(lambda: room.state(run).reason == "timer")
        clocks.wall -= HOUR
        await asyncio.wait_for(going, LONG)

    asyncio.run(driven())
    assert room.state(run).status == "succeeded"


def test_a_wait_that_is_over_before_its_driver_has_let_go_is_not_forgotten(room: Room) -> None:
    clocks = Clocks()

    def hasty() -> float:
        clocks.passes(HOUR)
        return clocks.wall

    run = room.start(AGAIN.replace("WAIT", "60m"))
    supervisor = room.supervisor(hasty)
    asyncio.run(supervisor.run_until_idle())
    asyncio.run(supervisor.run_until_idle())
    assert room.state(run).status == "succeeded"

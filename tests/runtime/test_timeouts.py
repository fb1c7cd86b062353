"""How long a whole run may take: the time in which it runs or waits for nothing but a time."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.model.history.events import ClockNoted, RunEnded
from handrail.operations.driving.drive import Drive, EventFollower
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.clock_waits import TimerWatch
from handrail.wiring.system import ENVIRONMENTS
from support.runtime.room import Room, assert_sound, left_in, of_kind, until
from support.runtime.set_clock import SetClock

SLOW = "name: slow\ntimeout: 1h30m\nsteps:\n  - {name: a, command: 'echo a >> trace'}\n"
HANGS = SLOW + "  - {name: b, command: 'echo begun > half; test -e short || sleep 600'}\n"
ASKS = SLOW + "  - {name: ok, type: approval}\n  - {name: b, command: 'true'}\n"
JUMPS = (-20 * 86_400.0, -10.0, 10.0, 20 * 86_400.0)


@dataclass
class Hands:
    """A clock that is moved by hand."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def started_at(room: Room, clock: Hands, text: str) -> str:
    run = room.start(text)
    clock.now = room.state(run).started_at
    return run


def drive_past(room: Room, clock: Hands, seconds: float) -> None:
    """Drive, and let time pass once a command is at work."""

    async def both() -> None:
        driving = asyncio.ensure_future(room.supervisor(clock).run_until_idle())
        while not (room.workspace / "half").exists():
            await asyncio.sleep(0.005)
        clock.now += seconds
        await asyncio.wait_for(driving, 60)

    asyncio.run(both())


def test_a_run_that_takes_longer_fails_and_its_step_is_ended(room: Room) -> None:
    clock = Hands()
    run = started_at(room, clock, HANGS)
    drive_past(room, clock, 5401)
    (ended,) = of_kind(room.log, run, RunEnded)
    assert (ended.status, ended.reason) == ("failed", "timeout")
    assert ended.message == "the run took longer than its timeout of 1h30m"
    assert (room.workspace / "half").read_text() == "begun\n"
    assert left_in(room) == []
    assert not room.log.due(float("inf"))
    assert_sound(room.log)


def test_less_time_ends_nothing(room: Room) -> None:
    clock = Hands()
    run = started_at(room, clock, HANGS.replace("sleep 600", "sleep 0.2"))
    drive_past(room, clock, 5399)
    assert room.state(run).status == "succeeded"


def test_a_resume_begins_the_step_again_with_the_whole_time(room: Room) -> None:
    clock = Hands()
    run = started_at(room, clock, HANGS)
    drive_past(room, clock, 5401)
    (room.workspace / "short").touch()
    clock.now += 50_000
    runs.resume(room.writer, run, "person:me")
    room.drive(clock)
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["a"]


def test_the_time_in_which_a_person_is_waited_for_does_not_count(room: Room) -> None:
    clock = Hands()
    run = started_at(room, clock, ASKS)
    room.drive(clock)
    clock.now += 100_000
    room.drive(clock)
    assert room.state(run).reason == "approval"
    runs.answer(room.writer, run, "approve", "person:me")
    room.drive(clock)
    assert room.state(run).status == "succeeded"


def test_the_time_in_the_queue_does_not_count(room: Room) -> None:
    clock = Hands()
    keyed = ASKS.replace("steps:", "concurrency: {key: k}\nsteps:")
    first, second = started_at(room, clock, keyed), started_at(room, clock, keyed)
    room.drive(clock)
    clock.now += 100_000
    runs.answer(room.writer, first, "approve", "person:me")
    room.drive(clock)
    assert room.state(first).status == "succeeded"
    assert room.state(second).reason == "approval"


def test_a_wait_for_the_next_try_counts_and_is_cut_short(room: Room) -> None:
    clock = Hands()
    text = "name: x\ntimeout: 1m\nsteps:\n  - {name: a, command: 'false', retry: {max: 2, backoff: 10m}}\n"
    run = started_at(room, clock, text)
    room.drive(clock)
    assert room.state(run).reason == "timer"
    clock.now += 61
    room.drive(clock)
    assert (room.state(run).status, room.state(run).reason) == ("failed", "timeout")


def test_a_terminal_ends_a_run_whose_time_is_up_while_it_waits_for_a_try(room: Room) -> None:
    text = "name: x\ntimeout: 1s\nsteps:\n  - {name: a, command: 'false', retry: {max: 2, backoff: 10m}}\n"
    run = room.start(text)
    drive = Drive(room.log, room.supervisor(), run, lambda _: None, EventFollower(room.log, run))
    asyncio.run(asyncio.wait_for(drive.go(), 60))
    assert (room.state(run).status, room.state(run).reason) == ("failed", "timeout")


def test_the_whole_run_ends_with_the_workflow_that_it_called(room: Room) -> None:
    clock = Hands()
    room.workflows["inner"] = "name: inner\nsteps:\n  - {name: b, command: 'echo begun > half; sleep 600'}\n"
    outer = "name: outer\ntimeout: 1m\nsteps:\n  - {name: call, type: workflow, workflow: inner}\n"
    run = started_at(room, clock, outer)
    drive_past(room, clock, 61)
    assert (room.state(run).status, room.state(run).reason) == ("failed", "timeout")
    assert room.state(f"{run}.2").status == "cancelled"
    assert left_in(room) == []


def test_a_run_is_not_ended_while_what_it_called_waits_for_a_person(room: Room) -> None:
    clock = Hands()
    room.workflows["inner"] = "name: inner\nsteps:\n  - {name: ok, type: approval}\n"
    outer = "name: outer\ntimeout: 1m\nsteps:\n  - {name: call, type: workflow, workflow: inner}\n"
    run = started_at(room, clock, outer)
    room.drive(clock)
    clock.now += 1000
    room.drive(clock)
    assert room.state(run).status == "running"
    assert room.state(f"{run}.2").reason == "approval"


def set_clock_of(room: Room, run: str) -> SetClock:
    """Give a clock that stands as it did when the run started."""
    state = room.state(run)
    return SetClock(state.started_at, state.started_at - state.ahead, state.boot)


def look(room: Room, clock: SetClock, waits: TimerWatch) -> None:
    waits.look()
    room.drive(clock.clock)


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("by", JUMPS)
def test_a_timeout_has_its_length_however_the_clock_is_set(room: Room, by: float, *, seen: bool) -> None:
    run = room.start("name: x\ntimeout: 1h\nsteps:\n  - {name: a, command: 'false', retry: {max: 2, backoff: 3h}}\n")
    clock = set_clock_of(room, run)
    room.drive(clock.clock)
    waits = TimerWatch(room.log, ENVIRONMENTS, clock.clock)
    waits.look()
    clock.passes(1800)
    clock.wall += by
    if seen:
        look(room, clock, waits)
    clock.passes(1799)
    look(room, clock, waits)
    assert room.state(run).reason == "timer"
    clock.passes(2)
    look(room, clock, waits)
    assert (room.state(run).status, room.state(run).reason) == ("failed", "timeout")
    assert room.log.due(float("inf")) == ()
    assert_sound(room.log)


@pytest.mark.parametrize("by", JUMPS)
def test_a_clock_that_is_set_while_a_command_works_neither_ends_the_run_nor_lets_it_go_on_for_ever(
    room: Room, by: float
) -> None:
    run = room.start(HANGS)
    clock = set_clock_of(room, run)

    async def jump() -> None:
        driving = asyncio.ensure_future(room.supervisor(clock.clock).run_until_idle())
        await until((room.workspace / "half").exists)
        clock.wall += by
        clock.passes(5398)
        await until(lambda: bool(of_kind(room.log, run, ClockNoted)))
        assert room.state(run).status == "running"
        clock.passes(4)
        await asyncio.wait_for(driving, 60)

    asyncio.run(jump())
    assert (room.state(run).status, room.state(run).reason) == ("failed", "timeout")
    assert left_in(room) == []
    assert_sound(room.log)

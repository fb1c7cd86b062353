"""A clock that jumps: waits, timeouts, budgets and durations keep their length, in one process and after a restart."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.fold.clocks import align_with_clock, shift_times
from handrail.model.history.events import ClockNoted, StepBegan, StepEnded, TimerFired
from handrail.model.history.run_state import CLOCK_JUMP, Failure, RunState, StepState, update_state
from handrail.model.workflow.agent_names import NO_AGENT_NAMES
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.costs import cost_of
from handrail.ports.log import Lease
from handrail.runtime.clock_waits import TimerWatch
from handrail.runtime.ports import (
    SteadyClock,
    adjust_to_clock,
    machine_clock,
    read_clock,
    stamp_clock,
    steady_time,
    step_duration,
)
from handrail.runtime.recorder import Recorder
from handrail.wiring.system import ENVIRONMENTS
from support.runtime.room import LONG, Room, assert_sound, of_kind, pinned
from support.runtime.set_clock import NOON, SetClock

HOUR = 3600.0
DAY = 24 * HOUR
JUMPS = [10 * DAY, -10 * DAY, HOUR / 2, -HOUR / 2]
AGAIN = """
name: again
steps:
  - {name: x, command: 'echo x >> trace; test $(wc -l < trace) -gt 1', retry: {max: 3, backoff: 60m}}
"""
SLOW = """
name: slow
budget: {minutes: 5}
steps:
  - {name: x, command: 'touch began; until test -e go; do sleep 0.05; done', TIMEOUT}
  - {name: y, command: 'true'}
"""


def _waits(room: Room, clock: SetClock) -> TimerWatch:
    """Begin to watch, as a process does that begins now."""
    found = TimerWatch(room.log, ENVIRONMENTS, clock.clock)
    found.look()
    return found


def _look(room: Room, clock: SetClock, waits: TimerWatch) -> None:
    waits.look()
    room.drive(clock.clock)


@pytest.mark.parametrize("by", JUMPS)
def test_a_wait_ends_when_its_length_is_over_however_the_clock_is_set(room: Room, by: float) -> None:
    clock, run = SetClock(), room.start(AGAIN)
    room.drive(clock.clock)
    waits = _waits(room, clock)
    clock.passes(HOUR / 2)
    clock.wall += by
    _look(room, clock, waits)
    clock.passes(HOUR / 2 - 1)
    _look(room, clock, waits)
    assert room.state(run).reason == "timer"
    assert len(room.trace()) == 1
    clock.passes(1)
    _look(room, clock, waits)
    room.drive(clock.clock)
    assert room.state(run).status == "succeeded"
    assert [event.key for event in of_kind(room.log, run, TimerFired)] == ["retry"]
    assert room.log.due(9e9) == ()
    assert_sound(room.log)


@pytest.mark.parametrize("by", JUMPS)
def test_a_process_that_begins_after_the_clock_was_set_waits_for_what_is_left(room: Room, by: float) -> None:
    clock, run = SetClock(), room.start(AGAIN)
    room.drive(clock.clock)
    clock.passes(HOUR / 2)
    clock.wall += by
    clock.passes(HOUR / 2 - 1)
    waits = _waits(room, clock)
    _look(room, clock, waits)
    assert room.state(run).reason == "timer"
    clock.passes(1)
    _look(room, clock, waits)
    room.drive(clock.clock)
    assert room.state(run).status == "succeeded"


def test_a_wait_is_shown_until_the_time_that_the_clock_has_then(room: Room) -> None:
    clock, run = SetClock(), room.start(AGAIN)
    room.drive(clock.clock)
    clock.wall += 10 * DAY
    room.drive(clock.clock)
    assert room.state(run).until == clock.wall + HOUR
    assert [timer.due for timer in room.log.due(9e9)] == [clock.wall + HOUR]
    assert [event.by for event in of_kind(room.log, run, ClockNoted)] == [0.0, 10 * DAY]


def test_after_another_start_of_the_machine_the_time_of_day_counts(room: Room) -> None:
    clock, run = SetClock(), room.start(AGAIN)
    room.drive(clock.clock)
    clock.restarts()
    clock.wall += HOUR
    room.drive(clock.clock)
    assert room.state(run).status == "succeeded"
    assert [event.by for event in of_kind(room.log, run, ClockNoted)] == [0.0, 0.0]


@pytest.mark.parametrize("by", JUMPS)
def test_an_approval_may_be_answered_for_as_long_as_it_says(room: Room, by: float) -> None:
    clock, run = SetClock(), room.start("name: x\nsteps:\n  - {name: ok, type: approval, timeout: 1h}\n")
    room.drive(clock.clock)
    waits = _waits(room, clock)
    clock.wall += by
    clock.passes(HOUR - 1)
    _look(room, clock, waits)
    assert room.state(run).reason == "approval"
    clock.passes(1)
    _look(room, clock, waits)
    room.drive(clock.clock)
    assert room.state(run).message == "nobody answered 'ok' in time"


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not holds():
            await asyncio.sleep(0.01)


def _file(room: Room, name: str) -> Path:
    return room.workspace / name


@pytest.mark.parametrize("by", JUMPS)
@pytest.mark.parametrize("watched", [True, False])
def test_a_step_takes_the_time_that_passes_and_so_do_budget_and_cost(room: Room, by: float, *, watched: bool) -> None:
    clock = SetClock()
    run = room.start(SLOW.replace("TIMEOUT", ""))

    async def driven() -> None:
        driving = asyncio.ensure_future(room.supervisor(clock.clock).run_until_idle())
        await _until(_file(room, "began").exists)
        clock.passes(2)
        clock.wall += by
        if watched:
            await _until(lambda: room.state(run).set_by == by)
        _file(room, "go").touch()
        await asyncio.wait_for(driving, LONG)

    asyncio.run(driven())
    state = room.state(run)
    assert state.status == "succeeded", state.message
    assert state.steps["x"].seconds == pytest.approx(2)
    assert state.spent.seconds == pytest.approx(2)
    cost = cost_of(room.log, run)
    assert [(each.address, each.spent.seconds) for each in cost.shares] == [("x", 2.0), ("y", 0.0)]
    assert cost.budget["minutes"][0] == pytest.approx(2 / 60)
    assert_sound(room.log)


@pytest.mark.parametrize("by", JUMPS)
def test_a_step_that_outlives_its_driver_keeps_its_timeout_and_counts_what_passed(room: Room, by: float) -> None:
    clock = SetClock()
    run = room.start(SLOW.replace("TIMEOUT", "timeout: 4m"))

    async def driven(then: Callable[[], None] | None) -> None:
        driving = asyncio.ensure_future(room.supervisor(clock.clock).run_until_idle())
        await _until(_file(room, "began").exists)
        if then is None:
            driving.cancel()
            await asyncio.wait([driving])
            return
        await _until(lambda: room.state(run).set_by == by)
        then()
        await asyncio.wait_for(driving, LONG)

    asyncio.run(driven(None))
    clock.passes(120)
    clock.wall += by
    asyncio.run(driven(_file(room, "go").touch))
    state = room.state(run)
    assert state.status == "succeeded", state.message
    assert state.steps["x"].seconds == pytest.approx(120)


def test_a_run_that_is_over_is_rewound_by_the_clock_as_it_is_then(room: Room) -> None:
    clock, run = SetClock(), room.start("name: one\nsteps:\n  - {name: x, command: 'true'}\n")
    room.drive(clock.clock)
    clock.wall += 10 * DAY
    room.drive(clock.clock)
    assert [event.by for event in of_kind(room.log, run, ClockNoted)] == [0.0]
    runs.rewind(room.writer, run, "x", "ann")
    room.drive(clock.clock)
    state = room.state(run)
    assert (state.status, state.set_by, state.steps["x"].seconds) == ("succeeded", 10 * DAY, 0.0)
    assert state.steps["x"].began_at == clock.wall
    assert_sound(room.log)


@pytest.mark.parametrize("by", JUMPS)
def test_what_happened_just_before_the_clock_was_set_is_told_by_the_new_one(by: float) -> None:
    for at in (NOON, NOON + by):
        happened = StepBegan(address="x", action="script", attempt=1, spec={}, at=at)
        assert adjust_to_clock(happened, NOON + by + 2, (by,)).at == NOON + by


@pytest.mark.parametrize("by", JUMPS)
def test_what_happened_before_the_clock_was_set_and_is_told_after_that_was_noted_has_its_length(
    room: Room, by: float
) -> None:
    clock, run = SetClock(), room.start(SLOW.replace("TIMEOUT", "timeout: 50m"))
    lease = room.log.acquire(run, "test")
    assert isinstance(lease, Lease)
    plan = pinned(SLOW.replace("TIMEOUT", "timeout: 50m")).plan
    recorder = Recorder(room.log, lease, clock.clock, room.writer.redactor, agent_names=NO_AGENT_NAMES)
    state = room.state(run)
    while state.pending is None or state.pending.kind != "step":
        state = recorder.commit(recorder.turn(plan, state))
    clock.passes(7)
    ended = StepEnded(address="x", began=state.pending.seq, status="succeeded", at=clock.wall)
    for jump in (by, 3 * by):
        clock.wall += jump
        state = recorder.commit(recorder.turn(plan, state))
    state = recorder.commit(recorder.turn(plan, state, (ended,)))
    assert (state.steps["x"].seconds, state.steps["x"].ended_at) == (7.0, clock.wall)


def test_a_usage_limit_ends_at_the_time_of_day_that_was_told() -> None:
    limit = Failure("x", 1, "no", retry_at=NOON + HOUR, hindrance="wait", blocks="budget")
    state = update_state(_waiting(HOUR), reason="quota", failure=limit)
    after = shift_times(state, "first", 0.0, DAY)
    assert (after.until, after.failure) == (state.until, limit)


def _waiting(length: float) -> RunState:
    clock = SetClock()
    state = RunState(
        run="x-1",
        status="waiting",
        plan="",
        definition="",
        workflow="x",
        inputs={},
        workspace="",
        started_at=NOON,
        reason="timer",
        until=NOON + length,
        failure=Failure("x", 1, "no", retry_at=NOON + length),
        boot=clock.boot,
        ahead=clock.clock.read().ahead,
    )
    return update_state(state, steps=state.steps.insert("x", StepState("running", 1, began=2, began_at=NOON)))


@given(
    st.lists(
        st.tuples(st.floats(0, DAY), st.floats(-100 * DAY, 100 * DAY), st.booleans()),
        max_size=12,
    )
)
@settings(max_examples=200, deadline=None)
def test_what_is_left_of_a_wait_and_what_passed_of_a_step_depend_on_the_time_that_passed_alone(
    moves: list[tuple[float, float, bool]],
) -> None:
    clock, state, passed = SetClock(), _waiting(10 * DAY), 0.0
    began = StepBegan(address="x", action="script", attempt=1, spec={}, at=NOON)
    for seconds, by, looks in moves:
        clock.passes(seconds)
        clock.wall += by
        passed += seconds
        now, noted = read_clock(clock.clock, state)
        if looks and noted is not None:
            state = shift_times(state, noted.boot, noted.ahead, noted.by)
            assert state.until == pytest.approx(now + 10 * DAY - passed, abs=1e-3)
        assert state.until is not None
        assert state.until - steady_time(clock.clock, state) == pytest.approx(10 * DAY - passed, abs=1e-3)
        assert step_duration(clock.clock, state, began) == pytest.approx(passed, abs=1e-3)


def test_a_state_is_brought_to_another_reading_of_the_same_start_only() -> None:
    state = _waiting(HOUR)
    assert align_with_clock(state, "first", state.ahead + DAY).until == NOON + HOUR + DAY
    assert align_with_clock(state, "another", state.ahead + DAY).until == NOON + HOUR


def test_small_differences_of_the_clock_are_none() -> None:
    clock, state = SetClock(), _waiting(HOUR)
    clock.wall += CLOCK_JUMP
    assert read_clock(clock.clock, state) == (clock.wall, None)
    clock.wall += 0.01
    assert read_clock(clock.clock, state)[1] is not None


def test_a_process_that_is_kept_from_reading_both_clocks_at_once_reads_them_again() -> None:
    times = iter([1.0, 9.0, 9.001])
    assert SteadyClock(lambda: 100.0, lambda: next(times), "x").read() == (100.0, 100.0 - 9.001)


def test_a_process_that_never_reads_both_clocks_at_once_goes_by_its_closest_try() -> None:
    steady = iter([0.0, 9.0, 10.0, *range(20, 1000, 10)])
    wall = iter(range(100, 1000))
    assert SteadyClock(lambda: next(wall), lambda: next(steady), "x").read() == (101, 101 - 10.0)


def test_the_machine_has_one_start_for_all_its_processes_and_new_runs_know_it(room: Room) -> None:
    run = room.start(AGAIN)
    state = room.state(run)
    assert state.boot == machine_clock().boot
    assert state.ahead == pytest.approx(machine_clock().read().ahead, abs=CLOCK_JUMP)
    began = StepBegan(address="x", action="script", attempt=1, spec={}, at=NOON)
    assert stamp_clock(began) is began

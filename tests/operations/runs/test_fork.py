"""Copies of runs on a real database: each waits for its own time or runs, and needs nobody to call it."""

import asyncio
import time

import pytest

from handrail.operations.driving.background_driver import ensure
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Timer
from handrail.processes.local_programs import LocalPrograms
from support.runtime.background_home import home_in
from support.runtime.room import Room, assert_sound, supervisor_of

RETRYING = "name: x\nsteps:\n  - {name: a, command: 'echo a >> trace; test -e go', retry: {max: 1, backoff: 10s}}\n"


@pytest.mark.parametrize("paused", [False, True], ids=["waiting", "paused"])
def test_a_copy_of_a_run_that_waits_for_a_time_has_a_timer_of_its_own(room: Room, paused: bool) -> None:
    run = room.start(RETRYING)
    room.drive(lambda: 1000.0)
    if paused:
        room.writer.send(run, "p", "pause")
        room.drive(lambda: 1001.0)
        assert room.state(run).reason == "pause"
        assert room.log.due(9e9) == (), "a paused run waits for a person, and for no time"
    copy = runs.fork(room.writer, run, None, "me")
    assert Timer(copy, "retry", 1010.0) in room.log.due(9e9)
    (room.workspace / "go").touch()
    room.drive(lambda: 1009.0)
    assert room.state(copy).status == "waiting"
    room.drive(lambda: 1010.0)
    assert room.state(copy).status == "succeeded"
    assert room.state(copy).steps["a"].attempts == 2
    assert room.state(run).status == ("waiting" if paused else "succeeded")
    assert room.log.due(9e9) == ()
    assert_sound(room.log)


def test_a_copy_of_a_run_that_was_paused_between_steps_runs(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: a, command: 'true'}\n")
    room.writer.send(run, "p", "pause")
    room.drive()
    assert room.state(run).reason == "pause"
    copy = runs.fork(room.writer, run, None, "me")
    room.drive()
    assert room.state(copy).status == "succeeded"
    assert room.state(run).reason == "pause", "the original is untouched"


def test_a_copy_of_a_question_with_a_time_limit_gets_the_limit_too(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: ok, type: approval, timeout: 1h}\n")
    room.drive(lambda: 1000.0)
    copy = runs.fork(room.writer, run, None, "me")
    room.drive(lambda: 1500.0)
    assert room.state(copy).reason == "approval"
    room.drive(lambda: 5100.0)
    assert room.state(copy).status == "blocked"


def test_the_background_driver_wakes_a_copy_at_its_time(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path_factory.mktemp("copies")
    monkeypatch.setenv("HANDRAIL_HOME", str(root / "home"))
    with home_in(root) as home:
        run = home.start("  - {name: a, command: 'test -e go', retry: {max: 1, backoff: 2s}}\n")
        now = time.time()
        here = supervisor_of(home.log, home.folders.data, {}, lambda: now)
        asyncio.run(here.run_until_idle())
        assert home.state(run).reason == "timer"
        copy = runs.fork(home.writer, run, None, "me")
        home.writer.send(run, "p", "pause")
        asyncio.run(here.run_until_idle())
        assert home.state(copy).reason == "timer"
        (home.shop / "go").touch()
        ensure(home.folders, LocalPrograms())
        assert home.reaches(copy, "succeeded").steps["a"].attempts == 2
        assert home.state(run).reason == "pause"

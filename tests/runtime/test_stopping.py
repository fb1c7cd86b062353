"""What a person does to a run while it is driven, and what that does to its processes and its children."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

import pytest

from handrail.model.history.events import RunBlocked, RunEnded, RunRewound, StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.operations.runs import lifecycle as runs
from handrail.ports.processes import Ended, Gone
from handrail.runtime import driver
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.testing.leaks import processes_within
from support.moved_time import MovedTime
from support.runtime.room import LONG, Room, assert_sound, drive_elsewhere, left_in, of_kind, until
from support.runtime.steps_room import StepsRoom

TREE = "(sleep 600 & echo $! >> pids; exec sleep 600) & echo $! >> pids; echo up >> trace; sleep 600"
SLOW = f"name: slow\nsteps:\n  - {{name: long, command: '{TREE}'}}\n  - {{name: next, command: 'echo next >> trace'}}\n"
PARENT = """
name: parent
steps:
  - {name: kid, type: workflow, workflow: slow}
  - {name: next, command: 'echo parent >> trace'}
"""


def test_a_stop_ends_the_whole_tree(room: Room) -> None:
    run = room.start(SLOW)

    def stop() -> None:
        assert len(left_in(room)) >= 3
        runs.stop(room.writer, run, "me")

    room.during(stop, lambda: room.trace() == ["up"])
    assert left_in(room) == []
    assert room.state(run).status == "cancelled"
    assert room.state(run).message == "stopped by me"
    assert of_kind(room.log, run, StepEnded) == []
    assert room.trace() == ["up"]
    assert_sound(room.log)


@pytest.mark.parametrize("work", ["command: 'true'", "prompt: Do it."])
def test_a_stop_ends_the_command_that_was_to_prove_a_step(shop: StepsRoom, work: str) -> None:
    proof = "touch begun; exec sleep 600"
    run = shop.start(f"name: x\nsteps:\n  - {{name: a, {work}, done_when: [{{passes: '{proof}'}}]}}\n", {"a": [{}]})

    def is_being_proven() -> bool:
        return shop.state(run).tree is not None and (shop.tree(run) / "begun").exists()

    shop.during(lambda: runs.stop(shop.writer, run, "me"), is_being_proven)
    assert shop.state(run).status == "cancelled"
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_the_tree_is_gone_at_the_moment_at_which_the_end_is_recorded(tmp_path: Path) -> None:
    at_the_end: list[list[str]] = []

    def look(name: str) -> None:
        if name == "append.before" and room.trace() == ["up"]:
            at_the_end.append(left_in(room))

    room = Room(tmp_path, on_point=look)
    run = room.start(SLOW)
    room.during(lambda: runs.stop(room.writer, run, "me"), lambda: room.trace() == ["up"])
    room.close()
    assert at_the_end == [[]]


def test_a_driver_killed_in_the_middle_of_a_stop_leaves_the_rest_to_the_next_one(room: Room) -> None:
    run = room.start(SLOW)
    other = drive_elsewhere(room)
    asyncio.run(until(lambda: room.trace() == ["up"]))
    other.send_signal(signal.SIGKILL)
    other.wait()
    runs.stop(room.writer, run, "me")
    assert len(left_in(room)) >= 3
    assert room.state(run).status == "running"
    room.drive()
    assert left_in(room) == []
    assert room.state(run).status == "cancelled"
    assert_sound(room.log)


def test_an_effect_that_ended_before_a_stop_was_seen_keeps_its_outcome(room: Room) -> None:
    run = room.start("name: quick\nsteps:\n  - {name: a, command: 'echo done'}\n  - {name: b, command: 'echo b'}\n")
    sent = False
    inner = CommandHandler.perform

    async def perform(
        self: CommandHandler, state: RunState, pending: Pending, began: StepBegan
    ) -> StepEnded | RunBlocked:
        nonlocal sent
        ended = await inner(self, state, pending, began)
        if not sent:
            sent = True
            runs.stop(room.writer, run, "me")
        return ended

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CommandHandler, "perform", perform)
        room.drive()
    assert [event.output for event in of_kind(room.log, run, StepEnded)] == ["done"]
    assert room.began(run) == ["a"]
    assert room.state(run).status == "cancelled"
    assert_sound(room.log)


def test_a_run_that_waits_is_stopped_without_anything_running(room: Room) -> None:
    run = room.start("name: asks\nsteps:\n  - {name: ok, type: approval, timeout: 1h}\n")
    room.drive()
    runs.stop(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "cancelled"
    assert room.log.due(time.time() + 10_000) == ()


def test_a_stopped_parent_takes_its_children_with_it(room: Room) -> None:
    room.workflows["slow"] = SLOW
    run = room.start(PARENT)
    room.during(lambda: runs.stop(room.writer, run, "me"), lambda: room.trace() == ["up"])
    child = next(name for name in room.log.streams() if name != run)
    assert room.state(child).status == "cancelled"
    assert room.state(child).message == f"stopped with {run}"
    assert room.state(run).status == "cancelled"
    assert left_in(room) == []
    ended = [event for event in room.log.read_all() if event.kind == "run_ended"]
    assert [event.stream for event in ended] == [child, run], "the child is over before its parent says so"
    assert_sound(room.log)


def test_a_parent_stopped_while_nobody_drives_takes_its_children_with_it(room: Room) -> None:
    room.workflows["slow"] = SLOW
    run = room.start(PARENT)
    other = drive_elsewhere(room)
    asyncio.run(until(lambda: room.trace() == ["up"]))
    other.send_signal(signal.SIGKILL)
    other.wait()
    runs.stop(room.writer, run, "me")
    supervisor = room.supervisor()
    supervisor.wanted = lambda name: name == run
    asyncio.run(supervisor.run_until_idle())
    assert {room.state(name).status for name in room.log.streams()} == {"cancelled"}
    assert left_in(room) == []


def test_a_rewind_ends_the_effect_and_cancels_live_children(room: Room) -> None:
    room.workflows["slow"] = SLOW
    text = PARENT.replace("steps:\n", "steps:\n  - {name: before, command: 'echo before >> trace'}\n")
    run = room.start(text)

    def back() -> None:
        runs.rewind(room.writer, run, "before", "me")

    async def twice() -> None:
        driving = asyncio.ensure_future(room.supervisor().run_until_idle())
        await until(lambda: room.trace() == ["before", "up"])
        back()
        await until(lambda: room.trace() == ["before", "up", "before", "up"])
        runs.stop(room.writer, run, "me")
        await asyncio.wait_for(driving, LONG)

    asyncio.run(twice())
    children = [name for name in room.log.streams() if name != run]
    assert len(children) == 2
    assert {room.state(name).status for name in children} == {"cancelled"}
    assert len(of_kind(room.log, run, RunRewound)) == 1
    assert left_in(room) == []
    assert_sound(room.log)


def test_a_pause_ends_the_effect_and_a_resume_begins_the_step_anew(room: Room) -> None:
    text = (
        "name: slow\nsteps:\n"
        "  - {name: long, command: 'echo up >> trace; test $(wc -l < trace) -gt 1 || sleep 600', output: said}\n"
    )
    run = room.start(text)

    def pause() -> None:
        room.writer.send(run, "p", "pause")

    room.during(pause, lambda: room.trace() == ["up"])
    assert (room.state(run).status, room.state(run).reason) == ("waiting", "pause")
    assert left_in(room) == []
    runs.resume(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["up", "up"]
    began = of_kind(room.log, run, StepBegan)
    assert len(began) == 2
    assert len(of_kind(room.log, run, StepEnded)) == 1


def test_a_child_that_ends_while_its_parent_is_paused_is_found_after_the_resume(room: Room) -> None:
    room.workflows["slow"] = "name: slow\nsteps:\n  - {name: ok, type: approval}\n"
    run = room.start(PARENT)
    room.drive()
    child = next(name for name in room.log.streams() if name != run)
    room.writer.send(run, "p", "pause")
    room.drive()
    assert room.state(run).reason == "pause"
    runs.answer(room.writer, child, "approve", "me")
    room.drive()
    assert room.state(child).status == "succeeded"
    assert room.state(run).reason == "pause", "a paused run stays paused"
    runs.resume(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "succeeded"


def _say_nothing(_: driver.Driver, __: RunState) -> None:
    """Die before the parent is told."""


def test_a_child_whose_end_was_never_told_is_found_by_looking_at_it(room: Room) -> None:
    room.workflows["slow"] = "name: slow\nsteps:\n  - {name: a, command: 'echo child >> trace'}\n"
    run = room.start(PARENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver.Driver, "_tell_parent", _say_nothing)
        room.drive()
    assert room.state(run).status == "running"
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["child", "parent"]


def test_a_timeout_ends_the_whole_tree_in_its_time(room: Room, moved_time: MovedTime) -> None:
    run = room.start(SLOW.replace("name: long,", "name: long, timeout: 1h,"))
    room.during(lambda: moved_time.move(3601), lambda: room.trace() == ["up"])
    state = room.state(run)
    assert state.status == "failed"
    assert "longer than 3600 s" in state.message
    assert left_in(room) == []


def test_the_time_of_a_step_that_survived_its_driver_counts_from_its_beginning(room: Room) -> None:
    run = room.start(SLOW.replace("name: long,", "name: long, timeout: 1h,"))
    other = drive_elsewhere(room)
    asyncio.run(until(lambda: room.trace() == ["up"]))
    other.send_signal(signal.SIGKILL)
    other.wait()
    room.drive(lambda: time.time() + 7200)
    assert "longer than 3600 s" in room.state(run).message
    assert room.trace() == ["up"]
    assert left_in(room) == []


def _lose_everything(room: Room, run: str) -> None:
    """Kill the driver, the keeper and the command, as a power failure does."""
    other = drive_elsewhere(room)
    asyncio.run(until(lambda: room.trace() == ["up"]))
    other.send_signal(signal.SIGKILL)
    other.wait()
    record = room.data / "runs" / run / "2" / "0.0" / "process.json"
    # The keeper names the command there a moment after it runs.
    asyncio.run(until(lambda: "command" in json.loads(record.read_text("utf-8"))))
    data = json.loads(record.read_text("utf-8"))
    for pid in (data["pid"], data["command"]):
        os.kill(pid, signal.SIGKILL)
    looked = room.supervisor().handlers.commands.starts.processes
    asyncio.run(until(lambda: isinstance(looked.look(str(record.parent)), Gone | Ended)))


ONCE = "name: once\nsteps:\n  - {name: long, command: 'echo up >> trace; test -e go || exec sleep 600'MORE}\n"


def test_a_script_that_died_with_the_machine_is_run_again(room: Room) -> None:
    run = room.start(ONCE.replace("MORE", ""))
    _lose_everything(room, run)
    (room.workspace / "go").touch()
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["up", "up"]
    assert room.began(run) == ["long"]


def test_a_script_that_must_not_run_twice_blocks_whatever_else_the_step_says(room: Room) -> None:
    run = room.start(ONCE.replace("MORE", ", repeatable: false, retry: 3, on_fail: continue"))
    _lose_everything(room, run)
    (room.workspace / "go").touch()
    room.drive()
    state = room.state(run)
    assert (state.status, state.reason) == ("blocked", "step")
    assert "must not be run twice" in state.message
    assert room.trace() == ["up"]
    runs.resume(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "succeeded", "a person said that it may begin anew"
    assert of_kind(room.log, run, RunEnded)

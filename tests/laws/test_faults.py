"""What the machine does to a run: each fault blocks it with what to do, loses nothing, and a resume goes on."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from handrail.errors import HandrailError, LeaseLost, StorageFull
from handrail.model.history.events import RunBlocked, StepBegan, StepEnded
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.history import state_of
from handrail.store.sqlite.log import open_log
from support.runtime.room import Room, assert_sound, damage, fold_from_zero, of_kind

TWO = """
name: two
steps:
  - {name: a, command: 'echo a >> trace; echo one', output: one}
  - {name: b, command: 'echo b >> trace; echo ${one}', output: two, retry: 2, on_fail: continue}
"""


class Disk:
    """A disk that is full from some commit on, for a while."""

    def __init__(self, full_from: int, until: int) -> None:
        self.commits = 0
        self._full = range(full_from, until)

    def __call__(self, name: str) -> None:
        if name == "append.before":
            self.commits += 1
            if self.commits in self._full:
                raise StorageFull("there is no room left", next_step="free some space, then resume")


def _full(folder: Path, full_from: int, until: int) -> tuple[Room, str]:
    room = Room(folder, on_point=Disk(full_from, until))
    return room, room.start(TWO)


@pytest.mark.parametrize("full_from", [2, 3, 4])
def test_a_full_disk_blocks_the_run_and_a_resume_repeats_nothing(tmp_path: Path, full_from: int) -> None:
    room, run = _full(tmp_path, full_from, full_from + 1)
    room.drive()
    state = room.state(run)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert (state.message, state.next_step) == ("there is no room left", "free some space, then resume")
    runs.resume(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["a", "b"], "what had run before the fault is found, not run again"
    assert_sound(room.log)
    room.close()


@pytest.mark.parametrize("full_from", [2, 3, 4])
def test_a_disk_too_full_to_say_so_raises_and_leaves_what_is_recorded(tmp_path: Path, full_from: int) -> None:
    room, run = _full(tmp_path, full_from, full_from + 2)
    with pytest.raises(StorageFull, match="no room left"):
        room.drive()
    before = room.log.last(run)
    assert room.state(run).status == "running"
    assert room.log.holder(run) is None
    room.drive()
    assert room.log.read(run)[before.seq - 1].hash == before.hash
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["a", "b"]
    assert_sound(room.log)
    room.close()


def test_a_fault_of_one_run_leaves_the_others_alone(room: Room) -> None:
    gone = room.folder / "gone"
    gone.mkdir()
    made = [room.start(TWO) for _ in range(3)]
    bad = room.start("name: bad\nsteps:\n  - {name: x, command: 'true'}\n")
    shutil.rmtree(room.data / "runs", ignore_errors=True)
    (room.data / "runs").mkdir()
    (room.data / "runs" / bad).write_text("a file where a folder has to be", "utf-8")
    room.drive()
    assert [room.state(run).status for run in made] == ["succeeded"] * 3
    state = room.state(bad)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "a process cannot be started" in state.message
    assert "make the folder writable" in state.next_step
    (room.data / "runs" / bad).unlink()
    runs.resume(room.writer, bad, "me")
    room.drive()
    assert room.state(bad).status == "succeeded"


def test_a_missing_working_folder_is_a_fault_and_no_failed_try(room: Room) -> None:
    run = room.start(TWO.replace("echo a >> trace; ", ""))
    room.workspace.rmdir()
    room.drive()
    state = room.state(run)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "cannot be entered" in state.message
    assert str(room.workspace) in state.next_step
    assert of_kind(room.log, run, StepEnded) == []
    room.workspace.mkdir()
    runs.resume(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert [event.attempt for event in of_kind(room.log, run, StepBegan)] == [1, 1]


@pytest.mark.parametrize("on_fail", ["block", "continue", "fail"])
def test_a_missing_program_is_a_fault_and_no_failed_try(room: Room, on_fail: str) -> None:
    text = f"name: x\nsteps:\n  - name: x\n    command: ./tool --now\n    retry: 2\n    on_fail: {on_fail}\n"
    state = room.run(text)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "a program of `./tool --now` was not found (exit 127): " in state.message
    assert "./tool: not found" in state.message
    assert "install it or fix the command, then resume" in state.next_step
    assert of_kind(room.log, state.run, StepEnded) == []
    (room.workspace / "tool").write_text("#!/bin/sh\necho works\n")
    runs.resume(room.writer, state.run, "me")
    room.drive()
    state = room.state(state.run)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "is not executable (exit 126)" in state.message
    (room.workspace / "tool").chmod(0o755)
    runs.resume(room.writer, state.run, "me")
    room.drive()
    assert room.state(state.run).status == "succeeded"
    assert [event.attempt for event in of_kind(room.log, state.run, StepBegan)] == [1]


def test_a_gate_whose_check_is_not_there_calls_no_agent_to_fix_it(room: Room) -> None:
    text = "name: x\nsteps:\n  - {name: x, type: gate, checks: {test: no-such-program}, fix: mend it}\n"
    state = room.run(text)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "a program of `no-such-program` was not found" in state.message
    assert state.spent.agent_calls == 0


def test_a_script_that_must_not_run_twice_fails_where_a_program_of_it_is_missing(room: Room) -> None:
    text = "name: x\nsteps:\n  - {name: x, command: no-such-program, repeatable: false, on_fail: block}\n"
    state = room.run(text)
    assert (state.status, state.reason) == ("blocked", "step")
    assert state.steps["x"].exit_code == 127


def test_an_undefined_value_blocks_before_anything_is_spawned(room: Room) -> None:
    text = (
        "name: x\nsteps:\n  - {name: j, command: 'echo {}', returns: json, output: j}\n"
        "  - {name: x, command: 'echo ${j.missing} >> trace'}\n"
    )
    state = room.run(text)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "missing" in state.message
    assert room.trace() == []


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("NaN", "NaN is not a valid JSON number"),
        ("[1, -Infinity]", "-Infinity is not a valid JSON number"),
        ('"\\ud800"', "surrogates not allowed"),
        ("{", "Expecting property name"),
        ("[" * 5000 + "]" * 5000, ""),
        ("[" * 150 + "]" * 150, "nested deeper than 100 levels"),
    ],
)
def test_what_is_no_json_fails_the_step_and_not_the_driver(room: Room, printed: str, why: str) -> None:
    (room.workspace / "printed").write_text(printed, "utf-8")
    state = room.run("name: x\nsteps:\n  - {name: j, command: cat printed, returns: json, on_fail: block}\n")
    assert (state.status, state.reason) == ("blocked", "step")
    assert "its output is not valid JSON" in state.message
    assert why in state.message


def test_numbers_of_any_size_and_texts_of_any_kind_come_back_as_they_were(room: Room) -> None:
    value = {"big": 123456789012345678901234567890, "float": 1.0, "small": 1e-300, "text": "é😀\u2028\x00"}
    (room.workspace / "printed").write_text(json.dumps(value), "utf-8")
    state = room.run("name: x\nsteps:\n  - {name: j, command: cat printed, returns: json, output: j}\n")
    assert state.names["j"] == value
    assert fold_from_zero(room.log, state.run).names["j"] == value
    assert json.dumps(fold_from_zero(room.log, state.run).names["j"]) == json.dumps(value)


def test_output_too_long_for_a_value_says_where_all_of_it_is(room: Room) -> None:
    state = room.run("name: x\nsteps:\n  - {name: x, command: 'yes | head -c 2000000; echo end', output: said}\n")
    said = str(state.names["said"])
    assert said.startswith("[the beginning was cut; the whole output is in ")
    assert said.endswith("end")
    assert Path(said.split("the whole output is in ")[1].split("]", maxsplit=1)[0]).stat().st_size == 2_000_004


class Jumping:
    """A clock that is set back by an hour at every look."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now -= 3600
        return self.now


def test_a_clock_that_jumps_back_changes_no_order_and_no_outcome(room: Room) -> None:
    text = TWO + "  - {name: c, command: 'echo ${steps.a.duration}', output: took}\n"
    run = room.start(text)
    room.drive(Jumping())
    assert room.state(run).status == "succeeded"
    assert str(room.state(run).names["took"]) in ("0", "0.0")
    assert_sound(room.log)


def test_a_wait_that_a_clock_made_endless_is_ended_by_a_resume(room: Room) -> None:
    text = (
        "name: x\nsteps:\n"
        "  - {name: x, command: 'echo x >> trace; test $(wc -l < trace) -gt 1', retry: {max: 3, backoff: 1h}}\n"
    )
    run = room.start(text)
    room.drive(lambda: 2_000_000.0)
    assert room.state(run).reason == "timer"
    room.drive(lambda: 1_000.0)
    assert room.state(run).reason == "timer"
    runs.resume(room.writer, run, "me")
    room.drive(lambda: 1_000.0)
    assert room.state(run).status == "succeeded"
    assert room.log.due(9e9) == ()


def test_a_retry_waits_across_restarts_until_its_time(room: Room) -> None:
    text = (
        "name: x\nsteps:\n"
        "  - {name: x, command: 'echo x >> trace; test $(wc -l < trace) -gt 2', retry: {max: 3, backoff: 10s}}\n"
    )
    run = room.start(text)
    seen: list[tuple[float, int]] = []
    for now in (1000.0, 1009.0, 1010.0, 1029.0, 1030.0):
        room.drive(lambda now=now: now)
        seen.append((now, len(room.trace())))
    assert seen == [(1000.0, 1), (1009.0, 1), (1010.0, 2), (1029.0, 2), (1030.0, 3)]
    assert room.state(run).status == "succeeded"


def test_an_approval_that_nobody_gave_in_time_blocks_and_a_late_answer_counts(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: ok, type: approval, timeout: 1h}\n  - {name: y, command: 'true'}\n")
    room.drive(lambda: 1000.0)
    room.drive(lambda: 4599.0)
    assert room.state(run).status == "waiting"
    room.drive(lambda: 4600.0)
    assert (room.state(run).status, room.state(run).reason) == ("blocked", "step")
    assert room.state(run).message == "nobody answered 'ok' in time"
    runs.answer(room.writer, run, "approve", "me")
    room.drive(lambda: 9000.0)
    assert room.state(run).status == "succeeded"
    assert_sound(room.log)


def test_a_driver_that_lost_its_lease_records_nothing_more_and_leaves_what_runs(room: Room) -> None:
    run = room.start(
        "name: x\nsteps:\n  - {name: x, command: 'echo x >> trace; until test -e go; do sleep 0.01; done'}\n"
    )
    usurper = open_log(room.data)

    def usurp() -> None:
        for lock in (room.data / "locks").glob("*.lock"):
            lock.unlink()
        lease = usurper.acquire(run, "usurper")
        assert lease.__class__.__name__ == "Lease"
        (room.workspace / "go").touch()

    before = room.log.last(run).seq
    room.during(usurp, lambda: room.trace() == ["x"])
    assert room.log.last(run).seq == before + 1
    assert room.state(run).status == "running"
    usurper.close()
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["x"]


def test_messages_that_nobody_can_read_are_consumed_and_do_nothing(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: ok, type: approval}\n")
    room.drive()
    before = room.log.last(run).seq
    for number, payload in enumerate([b"", b"[]", b"{}", b'{"kind": 7}', b'{"kind": "rewind"}', b'{"kind": "answer"}']):
        room.log.send(run, f"m{number}", payload)
    room.writer.send(run, "late", "child_ended", child="nobody")
    room.drive()
    assert room.log.last(run).seq == before
    assert room.log.inbox(run) == ()
    assert room.state(run).status == "waiting"


def test_a_run_whose_history_is_damaged_stops_nobody_else(room: Room) -> None:
    good, bad = room.start(TWO), room.start(TWO)
    room.close()
    damage(room, "UPDATE events SET payload = x'00' WHERE stream = ?", bad)
    supervisor, met = room.supervisor(), list[HandrailError]()
    supervisor.on_unreadable = met.append
    asyncio.run(supervisor.run_until_idle())
    asyncio.run(supervisor.run_until_idle())
    assert [(error.code, "doctor --repair" in str(error.next_step)) for error in met] == [("storage-damaged", True)]
    assert state_of(room.log, good).status == "succeeded"
    assert room.log.holder(bad) is None


def test_a_supervisor_that_is_cancelled_leaves_the_command_for_the_next_one(room: Room) -> None:
    run = room.start(
        "name: x\nsteps:\n  - {name: x, command: 'echo x >> trace; until test -e go; do sleep 0.01; done'}\n"
    )

    async def cancelled() -> None:
        driving = asyncio.ensure_future(room.supervisor().run_until_idle())
        while room.trace() != ["x"]:
            await asyncio.sleep(0.005)
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving

    asyncio.run(cancelled())
    assert room.log.holder(run) is None
    assert room.state(run).status == "running"
    (room.workspace / "go").touch()
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["x"]
    assert not of_kind(room.log, run, RunBlocked)
    assert LeaseLost.retryable is False

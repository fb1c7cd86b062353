"""Named defects of WorkRail's storage and of Coven's engine, each with a test that shows we are free of it."""

import os
import signal
from pathlib import Path

import pytest

from handrail.errors import StorageDamaged
from handrail.model.history.events import StepBegan, StepEnded
from handrail.model.history.run_state import REDUCER
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Holder, Lease
from handrail.runtime.history import state_of
from handrail.store.sqlite.log import open_log, salvage_folder
from handrail.wiring.system import make_writer
from support.moved_time import MovedTime
from support.runtime.room import Room, assert_sound, damage, drive_elsewhere, fold_from_zero, left_in, of_kind

STEPS = "name: steps\nsteps:\n" + "".join(
    f"  - {{name: s{number}, command: 'echo s{number} >> trace; echo {number}', output: o{number}}}\n"
    for number in range(3)
)
LONG_LOOP = """
name: long
steps:
  - name: l
    type: loop
    for: 900
    max_iterations: 900
    steps:
      - {name: never, command: 'true', when: round < 0}
  - {name: a, command: 'echo a >> trace; echo 1', output: a}
  - {name: ok, type: approval}
  - {name: b, command: 'echo b >> trace; echo ${a}', output: b}
"""


class TestWorkRail:
    """Its defects D15 and D17, and what its storage was seen to do under crashes."""

    def test_a_torn_tail_is_found_named_and_salvaged_and_the_run_goes_on(self, room: Room) -> None:
        run = room.start(STEPS)
        room.drive()
        kept = [event.hash for event in room.log.read(run)][:4]
        room.close()
        damage(room, "UPDATE events SET payload = substr(payload, 1, 20) WHERE stream = ? AND seq >= 5", run)
        with pytest.raises(StorageDamaged) as raised:
            room.state(run)
        assert raised.value.intact == 4
        assert "doctor --repair" in str(raised.value.next_step)
        room.close()
        salvaged = salvage_folder(room.data)
        assert [(cut.stream, cut.kept) for cut in salvaged.cuts] == [(run, 4)]
        assert [event.hash for event in room.log.read(run)] == kept
        runs.resume(room.writer, run, "me")
        room.drive()
        assert room.state(run).status == "succeeded"
        assert_sound(room.log)

    def test_a_torn_page_of_the_write_ahead_log_loses_nothing_that_was_committed_before_it(self, room: Room) -> None:
        run = room.start(STEPS)
        room.drive()
        wal = room.data / "handrail.db-wal"
        copy = room.folder / "copy"
        copy.mkdir()
        whole = wal.read_bytes()
        (copy / "handrail.db").write_bytes((room.data / "handrail.db").read_bytes())
        (copy / "handrail.db-wal").write_bytes(whole[: len(whole) - 1000])
        torn = open_log(copy)
        events = torn.read(run)
        assert [event.hash for event in room.log.read(run)][: len(events)] == [event.hash for event in events]
        assert len(events) >= 3
        torn.close()

    def test_a_lock_of_a_dead_process_holds_nobody_up(self, room: Room) -> None:
        run = room.start("name: x\nsteps:\n  - {name: x, command: 'echo up >> trace; test -e go || sleep 600'}\n")
        other = drive_elsewhere(room)
        while room.trace() != ["up"]:
            assert other.poll() is None
        holder = room.log.holder(run)
        assert isinstance(holder, Holder)
        assert holder.pid == other.pid
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert room.log.holder(run) is None
        lease = room.log.acquire(run, "me")
        assert isinstance(lease, Lease)
        room.log.release(lease)
        runs.stop(room.writer, run, "me")
        room.drive()
        assert room.state(run).status == "cancelled"

    def test_a_second_server_sees_every_run_and_says_who_drives(self, room: Room) -> None:
        run = room.start("name: x\nsteps:\n  - {name: ok, type: approval}\n  - {name: b, command: 'true'}\n")
        room.drive()
        second = open_log(room.data)
        assert state_of(second, run) == room.state(run)
        lease = room.log.acquire(run, "the first")
        assert isinstance(lease, Lease)
        held = second.acquire(run, "the second")
        assert isinstance(held, Holder)
        assert (held.name, held.pid) == ("the first", os.getpid())
        runs.answer(make_writer(second), run, "approve", "me")
        room.log.release(lease)
        room.drive()
        assert state_of(second, run).status == "succeeded", (
            "the answer given to one server reaches the run at the other"
        )
        second.close()

    def test_an_edited_snapshot_is_not_believed(self, room: Room) -> None:
        run = room.start(LONG_LOOP)
        room.drive()
        live = room.state(run)
        room.close()
        damage(room, "UPDATE checkpoints SET state = zeroblob(length(state)), packed = 0")
        assert room.state(run) == live, "the state is folded from the events instead"
        report = room.log.check()
        assert {finding.part for finding in report.findings} == {"checkpoint"}
        runs.answer(room.writer, run, "approve", "me")
        room.drive()
        assert room.state(run).status == "succeeded"

    def test_a_checkpoint_is_the_same_as_folding_from_the_beginning(self, room: Room) -> None:
        run = room.start(LONG_LOOP)
        room.drive()
        assert room.log.checkpoint(run, REDUCER) is not None
        assert room.state(run) == fold_from_zero(room.log, run)
        runs.answer(room.writer, run, "approve", "me")
        room.drive()
        assert room.state(run) == fold_from_zero(room.log, run)
        assert room.trace() == ["a", "b"]

    def test_a_step_writes_the_same_amount_however_long_the_history_is(self, room: Room) -> None:
        text = LONG_LOOP.replace("for: 900", "for: ROUNDS").replace("max_iterations: 900", "max_iterations: 1000")
        written: list[int] = []
        for rounds in (1, 1000):
            run = room.start(text.replace("ROUNDS", str(rounds)).replace("name: long", f"name: long{rounds}"))
            room.drive()
            before = room.log.last(run).seq
            runs.answer(room.writer, run, "approve", "me")
            room.drive()
            new = room.log.read(run, after=before)
            written.append(sum(len(event.payload) for event in new))
            assert [event.kind for event in new] == ["approval_decided", "step_began", "step_ended", "run_ended"]
        assert abs(written[0] - written[1]) < 100


class TestCoven:
    """Its defects by the numbers of the table in which they were found."""

    def test_d1_when_and_output_hold_inside_loops(self, room: Room) -> None:
        text = (
            "name: x\ninput: {flag: bool}\nsteps:\n  - name: l\n    type: loop\n    for: 2\n"
            "    max_iterations: 3\n    steps:\n"
            "      - {name: never, command: 'echo never >> trace', when: flag}\n"
            "      - {name: made, command: 'echo made ${round}', output: made}\n"
            "  - {name: after, command: 'echo ${made} >> trace'}\n"
        )
        state = room.run(text, flag=False)
        assert state.status == "succeeded"
        assert room.trace() == ["made 2"]
        assert state.steps["l@1/never"].status == state.steps["l@2/never"].status == "skipped"

    @pytest.mark.parametrize("on_fail", ["block", "fail"])
    def test_d2_a_resume_repeats_the_step_that_failed(self, room: Room, on_fail: str) -> None:
        text = (
            f"name: x\nsteps:\n  - {{name: a, command: 'echo a >> trace; test -e mended', on_fail: {on_fail}}}\n"
            "  - {name: b, command: 'echo b >> trace'}\n"
        )
        run = room.start(text)
        room.drive()
        assert room.state(run).status == {"block": "blocked", "fail": "failed"}[on_fail]
        runs.resume(room.writer, run, "me")
        room.drive()
        assert room.trace() == ["a", "a"], "it was repeated, and nothing after it was done while it fails"
        (room.workspace / "mended").touch()
        runs.resume(room.writer, run, "me")
        room.drive()
        assert room.state(run).status == "succeeded"
        assert room.trace() == ["a", "a", "a", "b"]

    def test_d5_a_stop_stops(self, room: Room) -> None:
        text = (
            "name: x\nsteps:\n  - {name: a, command: 'echo up >> trace; sleep 600'}\n"
            "  - {name: b, command: 'echo later >> trace'}\n"
        )
        run = room.start(text)
        room.during(lambda: runs.stop(room.writer, run, "me"), lambda: room.trace() == ["up"])
        assert left_in(room) == []
        room.drive()
        assert room.state(run).status == "cancelled"
        assert room.trace() == ["up"]

    def test_d6_the_timeout_of_a_step_is_enforced_also_over_all_checks_of_a_gate(self, room: Room) -> None:
        text = (
            "name: x\nsteps:\n  - name: g\n    type: gate\n    timeout: 1s\n    on_fail: block\n"
            "    checks: {a: 'sleep 600', b: 'echo b >> trace', c: 'echo c >> trace'}\n"
        )
        state = room.run(text)
        assert (state.status, state.reason) == ("blocked", "checks")
        assert "longer than 1 s" in state.message
        assert room.trace() == [], "no check begins when the time of the gate is up"
        assert left_in(room) == []

    def test_d7_a_timeout_ends_the_children_that_keep_the_pipe_too(self, room: Room, moved_time: MovedTime) -> None:
        command = "sleep 6000 & (sleep 6001 | cat) & echo up >> trace; wait"
        run = room.start(f"name: x\nsteps:\n  - {{name: a, command: '{command}', timeout: 1h}}\n")
        room.during(lambda: moved_time.move(3601), lambda: room.trace() == ["up"])
        assert room.state(run).status == "failed"
        assert left_in(room) == [], "it ends with the timeout, not with the children"

    def test_d10_the_output_of_commands_that_end_at_once_is_never_lost(self, room: Room) -> None:
        checks = ", ".join(f"c{number}: 'echo said {number}'" for number in range(12))
        text = (
            f"name: x\nsteps:\n  - {{name: g, type: gate, checks: {{{checks}}}, output: g}}\n"
            "  - {name: j, command: 'printf %s ''{\"success\": false}''', returns: json, output: j}\n"
        )
        state = room.run(text)
        gate = state.names["g"]
        assert isinstance(gate, dict)
        assert sorted(str(gate["output"]).split("\n")) == sorted(["", *(f"said {n}" for n in range(12))] + [""] * 11)
        assert state.names["j"] == {"success": False}

    def test_d10_output_is_whole_when_the_driver_died_before_the_command_ended(self, room: Room) -> None:
        wait = "until test -e go; do sleep 0.01; done"
        text = f"name: x\nsteps:\n  - {{name: a, command: 'echo up >> trace; echo one; {wait}; echo two', output: a}}\n"
        run = room.start(text)
        other = drive_elsewhere(room)
        while room.trace() != ["up"]:
            assert other.poll() is None
        other.send_signal(signal.SIGKILL)
        other.wait()
        (room.workspace / "go").touch()
        room.drive()
        assert room.state(run).names["a"] == "one\ntwo"
        assert len(of_kind(room.log, run, StepBegan)) == len(of_kind(room.log, run, StepEnded)) == 1

    def test_d14_a_value_in_double_quotes_executes_nothing(self, room: Room) -> None:
        text = (
            "name: x\nsteps:\n  - {name: a, command: 'cat value', output: v}\n"
            "  - {name: b, command: 'echo \"commit: ${v}\" >> trace'}\n"
        )
        (room.workspace / "value").write_text('$(touch PWNED) `touch PWNED` "; touch PWNED; "', "utf-8")
        state = room.run(text)
        assert state.status == "succeeded"
        assert room.trace() == ['commit: $(touch PWNED) `touch PWNED` "; touch PWNED; "']
        assert not Path(room.workspace / "PWNED").exists()

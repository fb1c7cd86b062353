"""Timeouts and ending: whole trees go, and nothing else."""

import asyncio
import signal
from pathlib import Path

import pytest

from handrail.ports.processes import Ended, Gone, ProcessSpec, TimedOut
from support.workspace.process_room import LONG, Room

ESCAPES = {
    "background": "sleep 600 &",
    "nohup": "nohup sleep 600 > /dev/null 2>&1 &",
    "setsid": "setsid sleep 600 &",
    "double fork": "(sleep 600 &) &",
    "setsid and double fork": "(setsid sh -c 'sleep 600 & wait' &) &",
    "deaf": "sh -c \"trap '' INT TERM HUP; while :; do sleep 600; done\" &",
    "without the mark": "env -i setsid sleep 600 &",
    "output kept open": "(while :; do echo tick; sleep 0.05; done) &",
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=list(ESCAPES))
def test_what_a_command_leaves_running_is_ended_after_it(room: Room, escape: str) -> None:
    spec = room.sh(f"{escape}\necho done")
    assert room.run(spec).exit_code == 0
    assert room.out(spec).startswith(b"done") or b"done\n" in room.out(spec)
    assert room.processes.find_by_marker(spec.mark) == ()


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=list(ESCAPES))
def test_ending_a_command_ends_what_escaped_from_it(room: Room, escape: str) -> None:
    spec = room.start(f"{escape}\ntouch ready; sleep 600; true")
    room.until("ready")
    ended = room.finished(room.end(spec))
    assert ended.signal == signal.SIGINT
    assert room.processes.find_by_marker(spec.mark) == ()


def test_what_grandchildren_still_write_is_kept(room: Room) -> None:
    spec = room.sh("(i=0; while [ $i -lt 3000 ]; do echo late; i=$((i+1)); done) & echo early")
    assert room.run(spec).stdout_size == len("early\n" + "late\n" * 3000)
    assert sorted(set(room.out(spec).split())) == [b"early", b"late"]


def test_a_command_that_is_not_done_in_time_is_reported_and_can_be_ended(room: Room) -> None:
    spec = room.start("sleep 600 & sleep 600; true")
    assert room.wait(spec, 0.1) == TimedOut()
    room.until_so(lambda: len(room.processes.find_by_marker(spec.mark)) == 3)
    assert room.finished(room.end(spec)).code == 130


def test_a_timeout_of_nothing_only_looks(room: Room) -> None:
    spec = room.start("sleep 600")
    assert room.wait(spec, 0) == TimedOut()
    room.end(spec)
    assert isinstance(room.wait(spec, 0), Ended)


def test_a_trap_for_the_interrupt_is_honoured(room: Room) -> None:
    spec = room.start("trap 'echo tidied; exit 7' INT; touch ready; while :; do sleep 0.05; done")
    room.until("ready")
    assert room.finished(room.end(spec)).exit_code == 7
    assert room.out(spec) == b"tidied\n"


def test_a_command_deaf_to_the_interrupt_gets_the_term_signal(room: Room) -> None:
    spec = room.start("trap '' INT; trap 'exit 8' TERM; touch ready; while :; do sleep 0.05; done")
    room.until("ready")
    assert room.finished(room.end(spec, (0.1, LONG))).exit_code == 8


def test_a_stopped_command_is_killed(room: Room) -> None:
    spec = room.start("kill -STOP $$")
    room.until_so(lambda: _is_stopped(room, spec))
    assert room.finished(room.end(spec, (0.1, 0.1))).signal == signal.SIGKILL


def _is_stopped(room: Room, spec: ProcessSpec) -> bool:
    """Tell whether the command of a process was stopped, and can be asked for nothing."""
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in room.processes.find_by_marker(spec.mark)]
    return [each.rpartition(")")[2].split()[0] for each in stats] == ["T"]


def test_a_command_that_forks_all_the_time_is_ended(room: Room) -> None:
    spec = room.start("trap '' INT TERM; touch ready; while :; do setsid sh -c 'sleep 0.2' & sleep 0.02; done")
    room.until("ready")
    assert room.finished(room.end(spec, (0.1, 0.1))).signal == signal.SIGKILL
    assert room.processes.find_by_marker(spec.mark) == ()


@pytest.mark.parametrize("attempt", range(10))
def test_ending_right_after_the_start_ends_it(room: Room, attempt: int) -> None:
    spec = room.start("sleep 600; sleep 600")
    assert room.finished(room.end(spec)).signal == signal.SIGINT


def test_ending_one_command_leaves_its_neighbours_alone(room: Room) -> None:
    one, other = room.start("sleep 600"), room.start("while [ ! -e go ]; do sleep 0.05; done; echo unharmed")
    room.end(one)
    (room.root / "go").touch()
    assert room.finished(room.wait(other)).exit_code == 0
    assert room.out(other) == b"unharmed\n"


def test_a_cancelled_wait_leaves_the_command_and_no_descriptor(room: Room) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    spec = room.start("sleep 600")

    async def cancel() -> None:
        waiting = asyncio.create_task(room.processes.wait(spec.folder, None))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancel())
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert room.wait(spec, 0) == TimedOut()
    room.end(spec)


def test_two_who_end_one_command_agree(room: Room) -> None:
    spec = room.start("touch ready; sleep 600")
    room.until("ready")

    async def both() -> list[Ended | Gone]:
        ends = [room.processes.end(spec.folder, (LONG, LONG)) for _ in range(2)]
        return await asyncio.gather(*ends)

    one, other = asyncio.run(both())
    assert one == other

"""What is left when somebody dies: the supervisor, the keeper, the machine."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, TimedOut
from handrail.processes.process_table import birth_of
from handrail.processes.wait import wait_until_dead
from support.workspace.process_room import LONG, Room

SUPERVISOR = """
import json, sys, time
from handrail.ports.processes import ProcessSpec
from handrail.processes.local import LocalProcesses
key, argv, cwd, env, folder, limit = json.loads(sys.argv[1])
LocalProcesses().start(ProcessSpec(key, tuple(argv), cwd, tuple((k, v) for k, v in env), folder, limit))
print("started", flush=True)
time.sleep(600)
"""


@pytest.fixture
def supervise() -> Iterator[Callable[[ProcessSpec], subprocess.Popen[str]]]:
    """Give a function that lets another process start a command."""
    running: list[subprocess.Popen[str]] = []

    def run(spec: ProcessSpec) -> subprocess.Popen[str]:
        told = json.dumps([spec.key, spec.argv, spec.cwd, spec.env, spec.folder, spec.limit_bytes])
        words = [sys.executable, "-c", SUPERVISOR, told]
        running.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.communicate()


Supervise = Callable[[ProcessSpec], "subprocess.Popen[str]"]


def _kill(supervisor: "subprocess.Popen[str]") -> None:
    os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.wait()


def _record(spec: ProcessSpec) -> dict[str, object]:
    return json.loads((Path(spec.folder) / "process.json").read_text())


def _pid(spec: ProcessSpec, name: str) -> int:
    pid = _record(spec)[name]
    assert isinstance(pid, int)
    return pid


def test_a_command_outlives_its_supervisor_and_the_next_one_gets_status_and_output(
    room: Room, supervise: Supervise
) -> None:
    spec = room.sh("echo before; touch ready; while [ ! -e go ]; do sleep 0.05; done; echo after; exit 9")
    supervisor = supervise(spec)
    room.until("ready")
    _kill(supervisor)
    running = room.processes.look(spec.folder)
    assert isinstance(running, Running)
    assert room.processes.start(spec) == running, "adopted, not started again"
    assert room.wait(spec, 0) == TimedOut()
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)).exit_code == 9
    assert room.out(spec) == b"before\nafter\n"


def test_what_ended_while_nobody_looked_is_known_later(room: Room, supervise: Supervise) -> None:
    spec = room.sh("touch ready; while [ ! -e go ]; do sleep 0.05; done; echo alone; kill -TERM $$")
    supervisor = supervise(spec)
    room.until("ready")
    _kill(supervisor)
    (room.root / "go").touch()
    room.until("process-1/status")
    ended = room.finished(room.wait(spec))
    assert (ended.signal, room.out(spec)) == (signal.SIGTERM, b"alone\n")


def test_an_adopted_command_is_ended_like_an_own_one(room: Room, supervise: Supervise) -> None:
    spec = room.sh("setsid sleep 600 & touch ready; sleep 600")
    supervisor = supervise(spec)
    room.until("ready")
    _kill(supervisor)
    assert room.finished(room.end(spec)).signal == signal.SIGINT
    assert room.processes.find_by_marker(spec.mark) == ()


@pytest.mark.parametrize("moment", ["", "stdout", "stderr", "process.json", "status"])
@pytest.mark.parametrize("attempt", range(3))
def test_a_supervisor_killed_while_it_starts_a_command_never_makes_it_run_twice(
    room: Room, supervise: Supervise, moment: str, attempt: int
) -> None:
    spec = room.sh("echo ran >> ran")
    supervisor = supervise(spec)
    while not (Path(spec.folder) / moment).exists() and supervisor.poll() is None:
        os.sched_yield()
    _kill(supervisor)
    room.processes.start(spec)
    assert room.finished(room.wait(spec)).exit_code == 0
    assert (room.root / "ran").read_text() == "ran\n"


def test_of_many_supervisors_one_starts_the_command(room: Room, supervise: Supervise) -> None:
    spec = room.sh("echo ran >> ran; while [ ! -e go ]; do sleep 0.05; done; echo once")
    supervisors = [supervise(spec) for _ in range(6)]
    for supervisor in supervisors:
        assert supervisor.stdout
        assert supervisor.stdout.readline() == "started\n"
        _kill(supervisor)
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)).exit_code == 0
    assert (room.root / "ran").read_text() == "ran\n"
    assert room.out(spec) == b"once\n"


def test_a_command_whose_keeper_was_killed_is_running_until_it_ends_and_then_gone(room: Room) -> None:
    spec = room.start("touch ready; while [ ! -e go ]; do sleep 0.05; done")
    room.until("ready")
    os.kill(_pid(spec, "pid"), signal.SIGKILL)
    assert room.wait(spec, 0.1) == TimedOut()
    assert isinstance(room.processes.look(spec.folder), Running)
    (room.root / "go").touch()
    assert room.wait(spec) == Gone()
    assert room.processes.look(spec.folder) == Gone()


def test_a_command_whose_keeper_was_killed_can_be_ended_with_all_that_escaped(room: Room) -> None:
    spec = room.start("setsid sleep 600 & (setsid sleep 600 &) & touch ready; sleep 600; true")
    room.until("ready")
    os.kill(_pid(spec, "pid"), signal.SIGKILL)
    assert room.end(spec, (1.0, 1.0)) == Gone()
    assert room.processes.find_by_marker(spec.mark) == ()


def test_what_is_left_of_a_command_that_was_killed_with_its_keeper_is_ended(room: Room) -> None:
    spec = room.start("setsid sleep 600 & touch ready; sleep 600; true")
    room.until("ready")
    os.kill(_pid(spec, "pid"), signal.SIGKILL)
    os.kill(_pid(spec, "command"), signal.SIGKILL)
    assert room.wait(spec) == Gone()
    assert room.processes.find_by_marker(spec.mark) == ()


def test_a_command_whose_folder_was_deleted_still_leaves_nothing_behind(room: Room) -> None:
    spec = room.start("setsid sleep 600 & touch ready; while [ ! -e go ]; do sleep 0.05; done")
    room.until("ready")
    waiting = room.processes.wait(spec.folder, LONG)

    async def delete_meanwhile() -> Ended | Gone | TimedOut:
        task = asyncio.create_task(waiting)
        await asyncio.sleep(0)
        shutil.rmtree(spec.folder)
        (room.root / "go").touch()
        return await task

    assert asyncio.run(delete_meanwhile()) == Gone()
    assert room.processes.look(spec.folder) is None
    assert room.processes.find_by_marker(spec.mark) == ()


def test_a_keeper_heeds_no_polite_signal(room: Room) -> None:
    spec = room.start("touch ready; while [ ! -e go ]; do sleep 0.05; done; exit 3")
    room.until("ready")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        os.kill(_pid(spec, "pid"), number)
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)).exit_code == 3


def _kill_keeper_before_it_names_the_command(spec: ProcessSpec) -> None:
    record = _record(spec)
    named = {name: value for name, value in record.items() if not name.startswith("command")}
    (Path(spec.folder) / "process.json").write_text(json.dumps(named))
    keeper = _pid(spec, "pid")
    os.kill(keeper, signal.SIGKILL)
    assert asyncio.run(wait_until_dead(keeper, str(record["started"]), LONG))


def test_a_command_that_its_keeper_could_not_name_is_found_by_its_mark_and_ended(room: Room) -> None:
    spec = room.start("echo >>ran; exec sleep 600")
    room.until("ran")
    command = _pid(spec, "command")
    _kill_keeper_before_it_names_the_command(spec)
    assert isinstance(room.processes.look(spec.folder), Running)
    assert isinstance(room.processes.start(spec), Running), "not started again beside it"
    assert room.wait(spec) == Gone()
    assert birth_of(command) is None
    assert room.processes.look(spec.folder) == Gone()
    assert (room.root / "ran").read_text() == "\n"


def test_a_keeper_that_died_before_its_command_began_leaves_nothing_to_wait_for(room: Room) -> None:
    spec = room.sh("true")
    room.run(spec)
    (Path(spec.folder) / "status").unlink()
    named = {name: value for name, value in _record(spec).items() if not name.startswith("command")}
    (Path(spec.folder) / "process.json").write_text(json.dumps(named))
    assert room.processes.look(spec.folder) == Gone()
    assert room.wait(spec) == Gone()
    assert room.end(spec) == Gone()


def _forge(room: Room, spec: ProcessSpec, pid: int, started: str) -> None:
    """Write the record of a process that died, whose id has gone to another."""
    folder = Path(spec.folder)
    folder.mkdir()
    record = {"key": spec.key, "mark": spec.mark, "pid": pid, "started": started}
    record |= {"command": pid, "command_started": started}
    (folder / "process.json").write_text(json.dumps(record))


def test_a_stranger_with_the_same_process_id_is_neither_adopted_nor_ended(room: Room) -> None:
    spec = room.sh("true")
    with subprocess.Popen(["/bin/sleep", "600"], cwd="/") as stranger:
        _forge(room, spec, stranger.pid, "00000000:1")
        room.processes.start(spec)
        assert room.processes.look(spec.folder) == Gone()
        assert room.wait(spec) == Gone()
        assert room.end(spec, (0.1, 0.1)) == Gone()
        assert stranger.poll() is None
        stranger.kill()


def test_after_a_reboot_a_process_with_the_same_id_and_age_is_a_stranger(room: Room) -> None:
    spec = room.start("sleep 600")
    living = _record(spec)
    other = room.sh("true")
    pid, started = living["pid"], str(living["started"])
    assert isinstance(pid, int)
    _forge(room, other, pid, "deadbeef:" + started.partition(":")[2])
    assert room.processes.look(other.folder) == Gone()
    assert isinstance(room.processes.look(spec.folder), Running)
    room.end(spec)


@pytest.mark.parametrize("torn", ["", "{", "[]", '{"exit_code": "no"}', "\0\0\0\0"])
def test_a_torn_status_is_no_status(room: Room, torn: str) -> None:
    spec = room.sh("true")
    room.run(spec)
    (Path(spec.folder) / "status").write_text(torn)
    assert room.processes.look(spec.folder) == Gone()


@pytest.mark.parametrize("torn", ["", "{", "[]", '{"pid": 1}'])
def test_a_torn_record_means_that_something_was_started_and_is_gone(room: Room, torn: str) -> None:
    spec = room.sh("touch ran")
    Path(spec.folder).mkdir()
    (Path(spec.folder) / "process.json").write_text(torn)
    assert room.processes.look(spec.folder) == Gone()
    room.processes.start(spec)
    assert room.wait(spec) == Gone()
    assert room.end(spec) == Gone()
    assert not (room.root / "ran").exists()


def test_many_wait_for_an_adopted_command_at_once(room: Room, supervise: Supervise) -> None:
    spec = room.sh("touch ready; while [ ! -e go ]; do sleep 0.05; done")
    supervisor = supervise(spec)
    room.until("ready")
    _kill(supervisor)

    async def all_of_them() -> list[Ended | Gone | TimedOut]:
        waiting = [asyncio.create_task(room.processes.wait(spec.folder, LONG)) for _ in range(5)]
        await asyncio.sleep(0)
        (room.root / "go").touch()
        return [await one for one in waiting]

    assert set(asyncio.run(all_of_them())) == {Ended(0)}

"""Keepers that are forked instead of started: nothing else differs, and nothing is left of where they come from."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.ports.processes import Ended, Gone, ProcessSpec, Running
from handrail.processes.keeper_pool import KEEPER_POOL, KeeperPool
from handrail.processes.process_folder import ProcessRecord, read_record
from handrail.processes.process_table import birth_of
from handrail.processes.wait import wait_until_dead
from handrail.testing.leaks import processes_within
from support.workspace.process_room import LONG, Room

DRIVER = """
import sys, time
from handrail.ports.processes import ProcessSpec
from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.local import LocalProcesses
folder, script = sys.argv[1:]
KEEPER_POOL.open()
LocalProcesses().start(ProcessSpec("work-1:1", ("/bin/sh", "-c", script), folder, (), folder + "/process-1"))
print(KEEPER_POOL.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def pool() -> KeeperPool:
    KEEPER_POOL.open()
    return KEEPER_POOL


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _keeper(room: Room, folder: str) -> ProcessRecord:
    record = read_record(Path(folder))
    assert record is not None
    assert isinstance(room.processes.look(folder), Running)
    return record


def test_a_keeper_is_forked_and_does_all_that_a_started_one_does(room: Room, pool: KeeperPool) -> None:
    spec = room.start("echo said; echo warned >&2; touch ready; while [ ! -e go ]; do sleep 0.05; done; exit 9")
    room.until("ready")
    record = _keeper(room, spec.folder)
    assert _parent(record.pid) == pool.pid
    assert os.getsid(record.pid) == record.pid, "signals to a terminal spare it"
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)) == Ended(9, stdout_size=5, stderr_size=7)
    assert birth_of(pool.pid) is not None
    pool.close()
    assert asyncio.run(wait_until_dead(record.pid, record.started, LONG))


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _child(pid: int) -> int:
    """Give the only child of a process, once there is one."""
    until = time.monotonic() + LONG
    while not (found := _children(pid)) and time.monotonic() < until:
        time.sleep(0.005)
    assert len(found) == 1
    return found[0]


def test_one_keeper_waits_and_then_the_next_one(room: Room, pool: KeeperPool) -> None:
    keeper = _child(pool.pid)
    spec = room.start("exec sleep 600")
    record = _keeper(room, spec.folder)
    assert record.pid == keeper
    assert record.command_started == birth_of(record.command)
    room.until_so(lambda: len(_children(pool.pid)) == 2)
    room.end(spec)


def _record(spec: ProcessSpec) -> ProcessRecord:
    record = read_record(Path(spec.folder))
    assert record is not None
    return record


def _pid(spec: ProcessSpec) -> int:
    return _record(spec).pid


def test_a_keeper_whose_command_has_ended_keeps_the_next_one(room: Room, pool: KeeperPool) -> None:
    specs = [room.sh(f"echo {number}; cat; exit {number}") for number in range(5)]
    specs[2] = replace(specs[2], stdin=b"given")
    assert [room.run(spec).code for spec in specs] == list(range(5))
    assert [room.out(spec) for spec in specs] == [b"0\n", b"1\n", b"2\ngiven", b"3\n", b"4\n"]
    assert len(set(map(_pid, specs))) == 1
    assert not any(room.processes.is_kept(spec.folder) for spec in specs)


def test_ending_a_command_that_is_over_spares_the_next_one_of_its_keeper(room: Room, pool: KeeperPool) -> None:
    first = room.sh("exit 3")
    room.run(first)
    second = room.start("exec sleep 600")
    assert _pid(first) == _pid(second)
    assert room.finished(room.end(first)).code == 3
    assert isinstance(room.processes.look(second.folder), Running)
    assert room.processes.is_kept(second.folder)
    room.end(second)


def test_a_status_that_does_not_count_is_not_made_up_for_by_a_keeper_that_has_left(
    room: Room, pool: KeeperPool
) -> None:
    first = room.sh("echo said")
    room.run(first)
    second = room.start("exec sleep 600")
    (Path(first.folder) / "stdout").write_bytes(b"")
    assert room.processes.look(first.folder) == Gone()
    assert room.end(first) == Gone()
    assert isinstance(room.processes.look(second.folder), Running)
    room.end(second)


def test_an_idle_keeper_that_was_killed_is_replaced(room: Room, pool: KeeperPool) -> None:
    first, second = room.sh("exit 3"), room.sh("exit 4")
    room.run(first)
    record = _record(first)
    os.kill(record.pid, signal.SIGKILL)
    assert asyncio.run(wait_until_dead(record.pid, record.started, LONG))
    assert room.run(second).code == 4


def test_no_more_keepers_are_idle_than_are_needed(room: Room, pool: KeeperPool) -> None:
    specs = [room.sh("exit 0") for _ in range(6)]
    asyncio.run(room.start_together(specs))
    assert [room.finished(room.wait(spec)).code for spec in specs] == [0] * 6
    room.until_so(lambda: sum(birth_of(_pid(spec)) is not None for spec in specs) <= 2)


def test_a_keeper_leaves_with_a_driver_that_died_while_its_command_ran(room: Room) -> None:
    script = "while [ ! -e go ]; do sleep 0.05; done"
    words = [sys.executable, "-c", DRIVER, str(room.root), script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        driver.kill()
    spec = replace(room.sh(script), key="work-1:1", env=())
    record = _keeper(room, spec.folder)
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)).exit_code == 0
    assert asyncio.run(wait_until_dead(record.pid, record.started, LONG))


def test_whoever_waits_for_a_command_of_another_process_need_not_wait_for_its_keeper(room: Room) -> None:
    script = "while [ ! -e go ]; do sleep 0.05; done; exit 8"
    words = [sys.executable, "-c", DRIVER, str(room.root), script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        spec = replace(room.sh(script), key="work-1:1", env=())
        (room.root / "go").touch()
        assert room.finished(room.wait(spec)).exit_code == 8
        driver.kill()


def test_who_waits_for_a_command_leaves_with_the_nursery(pool: KeeperPool) -> None:
    keeper = _child(pool.pid)
    started = birth_of(keeper)
    assert started is not None
    pool.close()
    assert asyncio.run(wait_until_dead(keeper, started, LONG))


def test_who_waits_and_dies_is_replaced(room: Room, pool: KeeperPool) -> None:
    victim = _child(pool.pid)
    started = birth_of(victim)
    assert started is not None
    os.kill(victim, signal.SIGKILL)
    asyncio.run(wait_until_dead(victim, started, LONG))
    assert room.run(room.sh("exit 6")).code == 6
    pool.open()
    assert room.run(room.sh("exit 7")).code == 7


def test_a_forked_keeper_is_seen_while_it_runs(room: Room, pool: KeeperPool) -> None:
    spec = room.start("exec sleep 600")
    assert len(processes_within(room.root)) == 2
    room.end(spec)


def test_folders_are_seen_from_where_the_driver_is_now(
    room: Room, pool: KeeperPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room.root / "inner").mkdir()
    monkeypatch.chdir(room.root)
    spec = replace(room.sh("pwd"), cwd="inner", folder="process-1")
    assert room.run(spec).code == 0
    assert room.out(spec).decode().strip() == str(room.root / "inner")


def test_many_threads_get_a_keeper_each(room: Room, pool: KeeperPool) -> None:
    specs = [room.sh(f"echo {number}") for number in range(12)]
    asyncio.run(room.start_together(specs))
    assert [room.finished(room.wait(spec)).code for spec in specs] == [0] * 12
    assert [room.out(spec) for spec in specs] == [f"{number}\n".encode() for number in range(12)]


def test_without_a_nursery_that_lives_a_keeper_is_started_directly(room: Room, pool: KeeperPool) -> None:
    os.kill(pool.pid, signal.SIGKILL)
    # The first of them may still be kept by the one who waited.
    assert [room.run(room.sh(f"exit {code}")).code for code in (2, 3, 4)] == [2, 3, 4]
    pool.open()
    assert room.run(room.sh("exit 5")).code == 5


def test_a_nursery_that_cannot_be_started_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = KeeperPool()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    refused.open()
    assert refused.fork_keeper([0, 1, 2]) is None


def test_a_nursery_that_does_not_answer_is_ended(room: Room) -> None:
    hung = KeeperPool(patience=0.01)
    hung.open()
    os.kill(hung.pid, signal.SIGSTOP)
    with Path(os.devnull).open("r+b") as nowhere:
        # One may wait already; the next one is never forked.
        born = [hung.fork_keeper([nowhere.fileno()] * 3) for _ in range(2)]
    assert born[1] is None
    assert birth_of(hung.pid) is None


def test_a_forked_process_asks_no_nursery_of_its_parent(pool: KeeperPool) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if pool.fork_keeper([0, 1, 2]) is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert birth_of(pool.pid) is not None


def test_a_nursery_leaves_with_its_driver_and_what_it_bore_stays(room: Room) -> None:
    script = "echo before; while [ ! -e go ]; do sleep 0.05; done; echo after; exit 9"
    words = [sys.executable, "-c", DRIVER, str(room.root), script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        pid = int(driver.stdout.readline())
        started = birth_of(pid)
        assert started is not None
        driver.kill()
    assert asyncio.run(wait_until_dead(pid, started, LONG))
    spec = replace(room.sh(script), key="work-1:1", env=())
    record = _keeper(room, spec.folder)
    assert room.processes.start(spec) == Running(record.pid, record.started), "adopted, not started again"
    (room.root / "go").touch()
    assert room.finished(room.wait(spec)).exit_code == 9
    assert room.out(spec) == b"before\nafter\n"


def test_a_keeper_that_is_never_told_what_to_run_leaves(pool: KeeperPool) -> None:
    ours, theirs = socket.socketpair()
    with theirs, Path(os.devnull).open("r+b") as nowhere:
        pid = pool.fork_keeper([theirs.fileno(), nowhere.fileno(), nowhere.fileno()])
    assert pid is not None
    started = birth_of(pid)
    assert started is not None
    ours.close()
    assert asyncio.run(wait_until_dead(pid, started, LONG))

"""Whatever moment the process that starts a run is killed at: it is there or it is not, and nobody is kept from it."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.operations.driving.handover import AttendedRuns
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Holder, Log
from handrail.runtime.history import state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.run_writer import RunClaim, attendant_of
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import System, make_writer
from support.compiler.native_case import compile_text, shown
from support.runtime.room import assert_sound

pytestmark = pytest.mark.system  # takes long: many processes of its own

TEXT = "name: case\nsteps:\n  - {name: hi, command: 'echo hi >> ran'}\n"
STARTS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from handrail.store.sqlite.log import SqliteLog
left = int(sys.argv[3])
def fatal(name):
    real = getattr(SqliteLog, name)
    def call(self, *given):
        for when in ("before", "after"):
            global left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            if when == "before":
                found = real(self, *given)
        return found
    setattr(SqliteLog, name, call)
for name in ("acquire", "append", "release"):
    fatal(name)
from laws.test_start_crashes import start
start(Path(sys.argv[1]), Path(sys.argv[2]))
"""
POINTS = 10
"""Before and after: two leases, the append, and giving both back."""


def request(work: Path) -> runs.Request:
    compiled, _, _ = compile_text(TEXT)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return runs.Request(PinnedWorkflow(compiled.plan, compiled.hash or ""), str(work))


def start(data: Path, work: Path) -> str:
    """Start a run with a claim on it, and let go of it."""
    log = open_log(data)
    claim = RunClaim(log, "tester")
    run = runs.start(make_writer(log), request(work), claim=claim)
    claim.free()
    log.close()
    return run


def drive(log: Log, data: Path) -> None:
    """Drive as the background driver does, which leaves alone what others attend to."""

    def nothing(name: str, _: str) -> PinnedWorkflow:
        raise AssertionError(name)

    supervisor = System(log, data, nothing).supervisor("background driver")
    supervisor.is_attended = lambda run: attendant_of(log, run) is not None
    asyncio.run(supervisor.run_until_idle())


@pytest.mark.parametrize("point", range(1, POINTS + 2))
def test_a_start_that_is_killed_leaves_a_whole_run_or_none_and_no_lease(tmp_path: Path, point: int) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    words = [sys.executable, "-c", STARTS, str(data), str(work), str(point), str(Path(__file__).parents[1])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == (-signal.SIGKILL if point <= POINTS else 0), done.stderr
    log = open_log(data)
    try:
        there = log.last("case-1").seq > 0
        assert there == (point > 5)
        assert log.holder("case-1") is None
        assert attendant_of(log, "case-1") is None
        second = runs.start(make_writer(log), request(work), claim=(claim := RunClaim(log, "tester")))
        assert second == ("case-2" if there else "case-1")
        claim.free()
        drive(log, data)
        assert {run: state_of(log, run).status for run in log.streams()} == dict.fromkeys(
            {"case-1", second}, "succeeded"
        )
        assert (work / "ran").read_text() == "hi\n" * len({"case-1", second})
        assert_sound(log)
    finally:
        log.close()


def test_a_run_that_a_process_attends_to_is_taken_by_nobody_until_it_lets_go(tmp_path: Path) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    here, other = open_log(data), open_log(data)
    try:
        claim = RunClaim(here, "terminal")
        run = runs.start(make_writer(here), request(work), claim=claim)
        assert isinstance(other.acquire(run, "older driver"), Holder)
        lease = claim.pass_on()
        assert lease is not None
        here.release(lease)
        drive(other, data)
        assert state_of(other, run).status == "running"
        assert not (work / "ran").exists()
        assert not AttendedRuns(other).can_hand_over(run, 1, by_agent=False)
        claim.free()
        drive(other, data)
        assert state_of(other, run).status == "succeeded"
    finally:
        here.close()
        other.close()

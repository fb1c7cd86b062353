"""Runs go on when no terminal is open."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.model.history.events import TimerFired
from handrail.operations.driving.background_driver import AlreadyRunning, DriverStarted, ensure, find_background_driver
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Lease
from handrail.processes.local_programs import LocalPrograms
from handrail.runtime.local.driver_lock import DriverLock
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from handrail.store.sqlite.log import open_log
from support.runtime.background_home import Home, eventually, home_in
from support.runtime.room import of_kind

WAITING = """\
  - {name: slow, command: 'echo ran >> ran; until [ -e go ]; do sleep 0.02; done', output: said}
  - {name: after, command: 'echo after'}
"""
HOLDS = """
import sys
from pathlib import Path
from handrail.store.sqlite.log import open_log
log = open_log(Path(sys.argv[1]))
log.acquire(sys.argv[2], "another terminal")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "600")
    with home_in(tmp_path) as made:
        yield made


def test_it_is_started_once_and_found_by_everybody(home: Home) -> None:
    assert find_background_driver(home.folders) is None
    started = ensure(home.folders, LocalPrograms())
    running = find_background_driver(home.folders)
    assert running is not None
    assert started == DriverStarted(running.pid)
    assert ensure(home.folders, LocalPrograms()) == AlreadyRunning(running.pid, running.since)


def test_a_second_one_refuses_politely_and_names_the_first(home: Home) -> None:
    ensure(home.folders, LocalPrograms())
    second = subprocess.run(
        [Path(sys.executable).with_name("handrail"), "drive"], capture_output=True, text=True, check=True
    )
    assert f"another background driver is already running: process {home.driver()}, since 20" in second.stdout


def test_it_stands_on_its_own_feet(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_SECRET_KEY", "hunter2")
    ensure(home.folders, LocalPrograms())
    process = Path("/proc") / str(home.driver())
    assert (process / "cwd").readlink() == Path("/")
    assert (process / "fd/0").readlink() == Path("/dev/null")
    assert (process / "fd/1").readlink() == home.folders.data / "driver.log"
    assert os.getsid(home.driver()) != os.getsid(0)
    assert b"hunter2" not in (process / "environ").read_bytes()
    for name in ("driver.log", "driver.lock"):
        assert stat.S_IMODE((home.folders.data / name).stat().st_mode) == 0o600


def test_a_long_log_is_put_aside(home: Home) -> None:
    said = home.folders.data / "driver.log"
    said.write_text("old\n" * 300_000)
    ensure(home.folders, LocalPrograms())
    assert said.with_name("driver.log.1").read_text().startswith("old\n")
    eventually(lambda: "background driver" in said.read_text())


def test_it_ends_when_nothing_is_left_to_wait_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "0.1")
    run = home.start("  - {name: hi, command: 'echo hi'}\n")
    ensure(home.folders, LocalPrograms())
    assert home.reaches(run, "succeeded").steps["hi"].attempts == 1
    eventually(lambda: find_background_driver(home.folders) is None)
    said = home.folders.data / "driver.log"
    eventually(lambda: "nothing left to wait for" in said.read_text())


def test_an_approval_continues_the_run_without_a_terminal(home: Home) -> None:
    run = home.start(
        "  - {name: ok, type: approval, message: 'go?'}\n  - {name: hi, command: 'echo hi', output: said}\n"
    )
    home.keep_going(run)
    home.reaches(run, "waiting")
    runs.answer(home.writer, run, "approve", "me")
    # It may already, or still, have the run in hand; a second one is never started.
    assert home.keep_going(run).pid == home.driver()
    assert home.reaches(run, "succeeded").names["said"] == "hi"


def test_a_failed_run_is_resumed_without_a_terminal(home: Home) -> None:
    run = home.start("  - {name: need, command: 'test -e thing'}\n")
    ensure(home.folders, LocalPrograms())
    home.reaches(run, "failed")
    (home.shop / "thing").touch()
    runs.resume(home.writer, run, "me")
    home.keep_going(run)
    assert home.reaches(run, "succeeded").steps["need"].status == "succeeded"


def test_a_time_that_was_waited_for_comes_without_a_terminal(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "0.1")
    command = "test -e once || { touch once; false; }"
    run = home.start(f"  - {{name: again, command: '{command}', retry: {{max: 2, backoff: 1s}}}}\n")
    first = ensure(home.folders, LocalPrograms())
    assert isinstance(first, DriverStarted)
    assert home.reaches(run, "succeeded").steps["again"].attempts == 2
    assert of_kind(home.log, run, TimerFired)
    eventually(lambda: find_background_driver(home.folders) is None)
    assert f"process {first.pid}" in (home.folders.data / "driver.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"])
def test_what_it_started_goes_on_without_it_and_is_adopted(home: Home, number: int) -> None:
    run = home.start(WAITING)
    ensure(home.folders, LocalPrograms())
    home.shows("ran")
    home.end_driver(number)
    assert home.log.holder(run) is None
    assert home.state(run).status == "running"
    assert isinstance(ensure(home.folders, LocalPrograms()), DriverStarted)
    (home.shop / "go").touch()
    home.reaches(run, "succeeded")
    assert (home.shop / "ran").read_text() == "ran\n"


def test_a_run_goes_on_when_the_terminal_that_drove_it_dies(home: Home) -> None:
    run = home.start("  - {name: hi, command: 'echo hi'}\n")
    words = [sys.executable, "-c", HOLDS, str(home.folders.data), run]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as terminal:
        assert terminal.stdout is not None
        assert terminal.stdout.readline() == b"held\n"
        ensure(home.folders, LocalPrograms())
        assert home.state(run).seq == 1
        terminal.kill()
    home.reaches(run, "succeeded")


def test_a_run_that_somebody_drives_is_left_to_them(home: Home) -> None:
    run = home.start("  - {name: hi, command: 'echo hi'}\n")
    elsewhere = open_log(home.folders.data)
    assert isinstance(elsewhere.acquire(run, "terminal"), Lease)
    assert home.keep_going(run).pid == os.getpid()
    assert find_background_driver(home.folders) is None
    elsewhere.close()


def test_a_message_that_the_one_who_drives_does_not_take_calls_the_background_driver(home: Home) -> None:
    run = home.start("  - {name: need, command: 'test -e thing'}\n")
    elsewhere = open_log(home.folders.data)
    elsewhere.acquire(run, "terminal on its way out")
    runs.stop(home.writer, run, "me")
    assert home.keep_going(run).pid == home.driver()
    elsewhere.close()
    home.reaches(run, "cancelled")


def test_another_workflow_is_looked_for_where_the_run_works(home: Home) -> None:
    child = "name: child\ndescription: says it\nsteps:\n  - {name: hi, command: 'echo from the shop', output: said}\n"
    folder = home.shop / ".handrail" / "workflows" / "child"
    folder.mkdir(parents=True)
    (folder / "workflow.yaml").write_text(child)
    call = "  - {name: kid, type: workflow, workflow: child, output: kid}\n"
    untrusted = home.start(call, child=child)
    ensure(home.folders, LocalPrograms())
    assert "needs your trust" in home.reaches(untrusted, "blocked").message
    TrustStore(home.folders).trust_snapshot(take(folder / "workflow.yaml"))
    run = home.start(call, child=child)
    assert home.reaches(run, "succeeded").names["kid"] == {"said": "from the shop"}


def test_the_lock_is_taken_again_after_it_was_let_go(tmp_path: Path) -> None:
    first, second = DriverLock(tmp_path), DriverLock(tmp_path)
    assert first.take() is None
    other = second.take()
    assert other is not None
    assert other.pid == os.getpid()
    first.free()
    assert second.take() is None
    second.free()

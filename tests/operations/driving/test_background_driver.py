"""How the background driver begins and ends, and which environment it has."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from handrail.errors import EnvironmentFault
from handrail.operations.driving import background_driver as background
from handrail.operations.driving.background_driver import (
    DriverStarted,
    ensure,
    find_background_driver,
    list_environment_differences,
)
from handrail.ports.log import Lease
from handrail.processes.local_programs import LocalPrograms
from handrail.runtime.driver import Driver
from handrail.runtime.local import supervisor
from handrail.runtime.local.background_driver import BackgroundDriver
from handrail.runtime.local.driver_lock import DriverInfo, DriverLock
from handrail.sources.folders import Folders, user_folders
from handrail.store.sqlite.log import open_log
from support.runtime.background_home import Home, eventually, home_in
from support.runtime.room import LONG, Room, until

ASKS = "name: asks\nsteps:\n  - {name: ok, type: approval, message: 'go?'}\n"
RETRIES = "name: retries\nsteps:\n  - {name: a, command: 'test -e thing', retry: {max: 1, backoff: 10m}}\n"
HI = "name: hi\nsteps:\n  - {name: hi, command: 'echo hi'}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "600")
    with home_in(tmp_path) as made:
        yield made


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the start instead of seeing the end waits longer than any test may take."""
    monkeypatch.setattr(background, "_STARTS_WITHIN", 3600.0)


@pytest.mark.usefixtures("patient")
def test_one_that_dies_at_its_start_is_noticed_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    folders = user_folders(os.environ)
    folders.data.mkdir(parents=True)
    (folders.data / "driver.log").write_text("what an earlier one said\n")
    (folders.data / "handrail.db").write_bytes(b"this is no database " * 500)
    with pytest.raises(EnvironmentFault) as raised:
        ensure(folders, LocalPrograms())
    said = raised.value.message
    assert said.startswith("the background driver died at startup: ")
    assert "handrail.db" in said
    assert "earlier" not in said
    assert raised.value.next_step == f"see {folders.data / 'driver.log'}, or: handrail resume"
    assert find_background_driver(folders) is None


@pytest.mark.usefixtures("patient")
def test_one_that_has_nothing_to_do_and_ends_at_once_has_started_well(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "0.001")

    def nobody(_: Folders) -> None:
        """It was over before anybody looked."""

    monkeypatch.setattr(background, "find_background_driver", nobody)
    assert isinstance(ensure(home.folders, LocalPrograms()), DriverStarted)


def test_a_run_that_nobody_handed_an_environment_over_for_has_the_plain_one_of_the_drivers_start(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/first")
    monkeypatch.setenv("SHOP_TOKEN", "hunter2")
    monkeypatch.setenv("HANDRAIL_PASS_ENV", "SHOP_TOKEN")
    ensure(home.folders, LocalPrograms())
    monkeypatch.delenv("HANDRAIL_PASS_ENV")
    monkeypatch.setenv("JAVA_HOME", "/second")
    monkeypatch.setenv("GOPATH", "/go")
    monkeypatch.setenv("TERM", "another")
    run = home.start("  - {name: env, command: 'echo $JAVA_HOME $GOPATH $SHOP_TOKEN', output: seen}\n")
    assert home.reaches(run, "succeeded").names["seen"] == "/first"
    running = find_background_driver(home.folders)
    assert running is not None
    assert list_environment_differences(running, LocalPrograms()) == ("GOPATH", "JAVA_HOME")
    said = CliRunner().invoke(cli, ["status"]).output
    note = "runs whose environment it does not hold use the GOPATH, JAVA_HOME from where it was started"
    assert f"background driver: process {running.pid}; its own environment: no login variable; {note}\n" in said
    lock = (home.folders.data / "driver.lock").read_text()
    assert "hunter2" not in lock
    assert "/first" not in lock
    assert b"hunter2" not in Path(f"/proc/{running.pid}/environ").read_bytes()


def test_status_says_nothing_of_an_environment_that_is_the_same(home: Home) -> None:
    run = home.start("  - {name: hi, command: 'echo hi'}\n")
    ensure(home.folders, LocalPrograms())
    home.reaches(run, "succeeded")
    said = f"background driver: process {home.driver()}; its own environment: no login variable\n"
    assert CliRunner().invoke(cli, ["status"]).output.endswith(said)


def test_a_driver_that_says_nothing_of_its_environment_is_taken_at_its_word(tmp_path: Path) -> None:
    lock = DriverLock(tmp_path)
    assert lock.take() is None
    lock.free()
    assert list_environment_differences(DriverInfo(1, 0.0), LocalPrograms()) == ()


def test_it_ends_while_a_run_waits_for_a_person(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "0.1")
    run = home.start("  - {name: ok, type: approval, message: 'go?'}\n")
    ensure(home.folders, LocalPrograms())
    assert home.reaches(run, "waiting").reason == "approval"
    eventually(lambda: find_background_driver(home.folders) is None)
    assert home.reaches(run, "waiting").reason == "approval"


@dataclass
class Watch:
    """A clock that is moved by hand, and counts who looks at it."""

    now: float = field(default_factory=time.time)
    looks: int = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


def serving(room: Room, watch: Watch) -> BackgroundDriver:
    """A background driver without patience."""
    return BackgroundDriver(room.log, room.supervisor(watch), watch, grace=0.0, steady=watch)


def test_it_waits_for_a_run_that_needs_a_person_no_longer_than_for_nothing(room: Room) -> None:
    run = room.start(ASKS)
    asyncio.run(asyncio.wait_for(serving(room, Watch()).serve(), LONG))
    assert room.state(run).reason == "approval"


def test_it_stays_while_a_time_is_waited_for_and_ends_after_it(room: Room) -> None:
    run, watch = room.start(RETRIES), Watch()

    async def wait() -> None:
        serves = asyncio.ensure_future(serving(room, watch).serve())
        await until(lambda: room.state(run).reason == "timer")
        seen = watch.looks
        await until(lambda: watch.looks > seen + 50)
        assert not serves.done()
        (room.workspace / "thing").touch()
        watch.now += 601
        await asyncio.wait_for(serves, LONG)

    asyncio.run(wait())
    assert room.state(run).status == "succeeded"


@pytest.mark.parametrize("then", [HI, ASKS], ids=["is over", "waits for a person"])
def test_it_ends_after_a_run_that_another_process_drove(room: Room, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    monkeypatch.setattr(supervisor, "HELD_INTERVAL", 0.05)
    run = room.start(then)
    elsewhere = open_log(room.data)
    lease = elsewhere.acquire(run, "terminal")
    assert isinstance(lease, Lease)
    mine, theirs = room.supervisor(), room.supervisor()

    async def wait() -> None:
        serves = asyncio.ensure_future(BackgroundDriver(room.log, mine, time.time, grace=0.0).serve())
        await until(lambda: mine.retry_at() is not None)
        await Driver(elsewhere, lease, theirs.handlers, time.time).drive()
        elsewhere.release(lease)
        await asyncio.wait_for(serves, LONG)

    asyncio.run(wait())
    elsewhere.close()
    assert mine.retry_at() is None
    assert room.state(run).status == ("succeeded" if then == HI else "waiting")

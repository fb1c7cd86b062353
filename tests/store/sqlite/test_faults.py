"""The machine refuses: a full disk, a read-only folder, a locked or newer database; nothing recorded is lost."""

import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import StorageBusy, StorageFull, StorageRefused, StorageTooNew
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.database import FILE, Database
from handrail.store.sqlite.log import open_log, salvage_folder
from handrail.store.sqlite.statements import migrations, statements
from handrail.testing.conformance.log_worlds import leased, record
from handrail.testing.small_disks import closed, fill, mounted, opened_again
from support.places import ROOT
from support.store.log_worker import end, start


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    with mounted(tmp_path, 2) as able:
        assert able
        yield tmp_path


@pytest.mark.system("disk")
def test_a_full_disk_is_named_and_the_run_continues_once_there_is_room(tiny_disk: Path) -> None:
    log = open_log(tiny_disk / "data")
    lease = leased(log, "a")
    record(log, lease, "1")
    ballast = fill(tiny_disk)
    with pytest.raises(StorageFull) as refused:
        record(log, lease, "x" * 200_000)
    assert refused.value.next_step == snapshot(
        "free up space on that disk, then resume; everything recorded so far is safe"
    )
    assert [event.payload for event in log.read("a")] == [b"1"]
    ballast.unlink()
    record(log, lease, "2")
    assert log.check().is_healthy
    log.close()


@pytest.mark.system("disk")
def test_a_log_cannot_be_made_on_a_full_disk(tiny_disk: Path) -> None:
    fill(tiny_disk)
    with pytest.raises(StorageFull):
        open_log(tiny_disk / "data")


@pytest.mark.system("disk")
def test_a_disk_that_became_read_only_is_named(tiny_disk: Path) -> None:
    log = open_log(tiny_disk / "data")
    lease = leased(log, "a")
    record(log, lease, "1")
    log.close()
    assert closed(tiny_disk)
    with pytest.raises(StorageRefused, match="Read-only file system"):
        open_log(tiny_disk / "data")
    assert opened_again(tiny_disk)
    log = open_log(tiny_disk / "data")
    assert len(log.read("a")) == 1
    log.close()


def test_a_file_that_may_not_grow_is_a_full_disk_too(tmp_path: Path) -> None:
    *seqs, code, next_step, resumed = end(start("fill", tmp_path, "a"))
    assert (code, next_step) == snapshot(
        ("storage-full", "free up space on that disk, then resume; everything recorded so far is safe")
    )
    assert int(resumed) == int(seqs[-1]) + 1
    log = open_log(tmp_path)
    assert len(log.read("a")) == int(resumed)
    assert log.check().is_healthy
    log.close()


def test_a_folder_that_may_not_be_written_is_refused_with_what_to_do() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        (folder / "closed").mkdir(mode=0o500)
        folder.chmod(0o755)
        code, message, next_step = end(start("unprivileged", folder))
    assert code == "storage-refused"
    assert message == f"the log in {folder / 'closed' / FILE} cannot be written: Permission denied"
    assert next_step == snapshot("make the folder writable for your user, or set HANDRAIL_HOME to a folder that is")


@pytest.mark.system("disk")
def test_a_lease_cannot_be_taken_on_a_full_disk_and_is_free_afterwards(tiny_disk: Path) -> None:
    log = open_log(tiny_disk / "data")
    ballast = fill(tiny_disk)
    with pytest.raises(StorageFull):
        log.acquire("a", "me")
    ballast.unlink()
    assert log.holder("a") is None
    record(log, leased(log, "a"), "1")
    log.close()


@pytest.mark.system("disk")
def test_a_damaged_log_on_a_full_disk_cannot_be_salvaged_and_is_left_alone(tiny_disk: Path) -> None:
    open_log(tiny_disk / "data").close()
    path = tiny_disk / "data" / FILE
    path.write_bytes(b"not a database" * 1000)
    fill(tiny_disk)
    with pytest.raises(StorageFull):
        salvage_folder(tiny_disk / "data")
    assert path.read_bytes() == b"not a database" * 1000
    assert {each.name for each in path.parent.iterdir()} == {FILE, "locks"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("I am a file")
    with pytest.raises(StorageRefused, match="File exists"):
        open_log(tmp_path / "data")


def test_a_database_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageRefused):
        open_log(tmp_path)


def test_a_database_that_is_locked_for_too_long_says_so(tmp_path: Path) -> None:
    log = open_log(tmp_path, busy_ms=1)
    other = Session(tmp_path / FILE, 0)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageBusy) as refused:
        log.send("a", "k", b"x")
    assert refused.value.retryable
    assert refused.value.next_step == snapshot("wait for the other process or stop it, then try again")
    other.execute("ROLLBACK")
    assert log.send("a", "k", b"x")
    other.raw.close()
    log.close()


def test_a_database_newer_than_the_code_is_refused_and_left_alone(tmp_path: Path) -> None:
    open_log(tmp_path).close()
    newer = Session(tmp_path / FILE, 0)
    newer.execute("PRAGMA user_version = 99")
    newer.raw.close()
    with pytest.raises(StorageTooNew) as refused:
        open_log(tmp_path)
    assert refused.value.message.endswith(
        f"has format 99, but this Handrail supports only formats up to {len(migrations())}"
    )
    assert refused.value.next_step == snapshot("install the newest Handrail: pip install --upgrade handrail")


def test_a_clock_that_jumps_back_changes_nothing_but_what_people_read(tmp_path: Path) -> None:
    times = iter([1_000_000.0, 5.0])
    log = open_log(tmp_path, clock=lambda: next(times))
    first = leased(log, "a")
    log.release(first)
    second = leased(log, "a")
    assert second.epoch == first.epoch + 1
    holder = log.holder("a")
    assert holder is not None
    assert holder.since == 5.0
    record(log, second, "1")
    log.close()


def test_everything_in_the_folder_is_private(tmp_path: Path) -> None:
    log = open_log(tmp_path / "deep" / "data")
    record(log, leased(log, "a"), "1")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep" / "data").rglob("*")}
    assert stat.S_IMODE((tmp_path / "deep" / "data").stat().st_mode) == modes.pop("locks") == 0o700
    assert {FILE, f"{FILE}-wal", f"{FILE}-shm", "gate"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    log.close()


def test_a_database_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    open_log(tmp_path).close()
    (tmp_path / FILE).chmod(0o644)
    open_log(tmp_path).close()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_commits_are_durable_and_readers_do_not_wait(tmp_path: Path) -> None:
    open_log(tmp_path).close()
    database = Database(tmp_path / FILE)
    with database.reading() as session:
        assert session.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert session.execute("PRAGMA synchronous").fetchall() == [(2,)]
    database.close()


def test_every_statement_is_named_and_described() -> None:
    folder = ROOT / "src" / "handrail" / "store" / "sqlite" / "sql"
    for file in sorted(folder.glob("*.sql")):
        blocks = file.read_text().split("-- name: ")
        assert blocks[0] == ""
        for block in blocks[1:]:
            name, description, *_ = block.splitlines()
            assert description.startswith("-- "), name
            assert statements()[name].rstrip().endswith(";"), name

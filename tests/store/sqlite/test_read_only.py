"""A log that cannot be written is read all the same, and takes up writing again when that is possible."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from handrail.errors import StorageFault, StorageFull, StorageRefused
from handrail.ports.log import Append, Holder, Lease
from handrail.store.sqlite.connection import FILE, Session
from handrail.store.sqlite.log import SqliteLog, open_log, open_readable
from handrail.store.sqlite.read_only import open_read_only
from handrail.testing.conformance.log_worlds import event, leased, record
from handrail.testing.small_disks import closed, fill, mounted, opened_again
from support.privileges import held_by_modes


def _written(folder: Path) -> None:
    log = open_log(folder)
    log.append([Append("a", 0, (event("1"), event("2")), summary={"status": "running"})], [])
    log.close()


def _assert_read(log: SqliteLog) -> None:
    assert [each.payload for each in log.read("a")] == [b"1", b"2"]
    assert [row.key for row in log.summaries()] == ["a"]
    assert (log.inbox("a"), log.pending_streams(), log.due(9e9)) == ((), (), ())
    assert log.holder("a") is None
    assert log.change_token() == log.change_token()
    assert log.check().is_healthy


@pytest.fixture
def closed_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a log that nobody has open, and that may not be written."""
    folder = tmp_path / "data"
    _written(folder)
    with held_by_modes():
        _close(folder)
        yield folder
        _open(folder)


def _close(folder: Path) -> None:
    (folder / FILE).chmod(0o400)
    (folder / "locks" / "gate").chmod(0o400)
    (folder / "locks").chmod(0o500)
    folder.chmod(0o500)


def _open(folder: Path) -> None:
    folder.chmod(0o700)
    (folder / "locks").chmod(0o700)
    (folder / "locks" / "gate").chmod(0o600)
    (folder / FILE).chmod(0o600)


def test_a_closed_folder_is_read_and_every_write_says_why_not(closed_folder: Path) -> None:
    log = open_readable(closed_folder)
    _assert_read(log)
    with pytest.raises(StorageRefused, match=f"{FILE} cannot be written"):
        log.send("a", "k", b"x")
    with pytest.raises(StorageRefused):
        log.put_blob(b"x")
    with pytest.raises(StorageRefused):
        log.acquire("a", "me")
    _assert_read(log)
    log.close()


def test_a_log_that_can_be_written_again_is_written(closed_folder: Path) -> None:
    log = open_readable(closed_folder)
    _assert_read(log)
    _open(closed_folder)
    assert log.send("a", "k", b"x")
    lease = log.acquire("a", "me")
    assert isinstance(lease, Lease)
    record(log, lease, "3")
    log.close()
    again = open_log(closed_folder)
    assert [each.payload for each in again.read("a")] == [b"1", b"2", b"3"]
    assert again.check().is_healthy
    again.close()


def test_what_a_process_left_in_its_write_ahead_log_is_read_too(tmp_path: Path) -> None:
    """A copy of the files of a process that died, on media that were closed afterwards."""
    folder = tmp_path / "data"
    log = open_log(folder)
    log.append([Append("a", 0, (event("1"), event("2")), summary={"status": "running"})], [])
    left = tmp_path / "left"
    left.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(folder / f"{FILE}{suffix}", left / f"{FILE}{suffix}")
    log.close()
    assert (left / f"{FILE}-wal").stat().st_size
    before = (left / FILE).read_bytes()
    with held_by_modes():
        left.chmod(0o500)
        session = open_read_only(left / FILE)
        left.chmod(0o700)
    assert session.execute("SELECT count(*) FROM events").fetchall() == [(2,)]
    assert ((left / FILE).read_bytes(), sorted(each.name for each in left.iterdir())) == (
        before,
        [FILE, f"{FILE}-wal"],
    )
    with pytest.raises(apsw.Error):
        session.execute("DELETE FROM events")


def test_a_log_that_another_process_writes_is_read_as_it_is_now(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    writer = open_log(folder)
    lease = leased(writer, "a")
    record(writer, lease, "1")
    session = open_read_only(folder / FILE)
    record(writer, lease, "2")
    assert session.execute("SELECT count(*) FROM events").fetchall() == [(2,)]
    assert isinstance(writer.holder("a"), Holder)
    session.raw.close()
    writer.close()


def test_a_log_that_is_not_there_or_of_an_older_format_says_why_it_cannot_be_made(tmp_path: Path) -> None:
    with held_by_modes():
        tmp_path.chmod(0o500)
        with pytest.raises(StorageRefused):
            open_readable(tmp_path / "data")
        tmp_path.chmod(0o700)
    _written(tmp_path / "data")
    session = Session(tmp_path / "data" / FILE, 1000)
    session.execute("PRAGMA user_version = 1")
    session.raw.close()
    with held_by_modes():
        _close(tmp_path / "data")
        with pytest.raises(StorageFault):
            open_readable(tmp_path / "data")
        _open(tmp_path / "data")


@pytest.mark.system("disk")
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_disk_that_takes_nothing_more_is_read(tmp_path: Path, how: str) -> None:
    with mounted(tmp_path, 2) as able:
        assert able
        _written(tmp_path / "data")
        if how == "full":
            fill(tmp_path)
        else:
            assert closed(tmp_path)
        log = open_readable(tmp_path / "data")
        _assert_read(log)
        wanted = (
            (StorageFull, "no room left for the log") if how == "full" else (StorageRefused, "Read-only file system")
        )
        with pytest.raises(wanted[0], match=wanted[1]):
            log.send("a", "k", b"x" * 100_000)
        _assert_read(log)
        if how == "full":
            (tmp_path / "ballast").unlink()
        else:
            assert opened_again(tmp_path)
        assert log.send("a", "k", b"x")
        log.close()

"""A damaged file is copied aside and rebuilt; a torn write-ahead log costs only what came after the tear."""

from pathlib import Path

import pytest

from handrail.errors import StorageDamaged
from handrail.store.sqlite.database import FILE
from handrail.store.sqlite.log import open_log, salvage_folder
from handrail.testing.conformance.log_worlds import leased, record, texts_of
from support.store.log_worker import kill, said, start

PAGE = 4096


@pytest.mark.parametrize("lost", [1, 100, 4000, 9000])
def test_workrail_torn_tail_keeps_every_commit_before_the_tear(tmp_path: Path, lost: int) -> None:
    worker = start("append", tmp_path, "a", "100000")
    for _ in range(30):
        said(worker)
    kill(worker)
    wal = tmp_path / f"{FILE}-wal"
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - lost)
    log = open_log(tmp_path)
    assert log.check().is_healthy
    assert len(log.read("a")) == log.last("a").seq >= 25
    record(log, leased(log, "a"), "goes on")
    log.close()


def test_a_flipped_byte_in_the_write_ahead_log_costs_only_what_came_after_it(tmp_path: Path) -> None:
    worker = start("append", tmp_path, "a", "100000")
    for _ in range(30):
        said(worker)
    kill(worker)
    wal = tmp_path / f"{FILE}-wal"
    data = bytearray(wal.read_bytes())
    data[-6000] ^= 0xFF
    wal.write_bytes(bytes(data))
    log = open_log(tmp_path)
    assert log.check().is_healthy
    assert log.last("a").seq >= 25
    log.close()


@pytest.fixture
def corrupt(tmp_path: Path) -> Path:
    """A log of which the page with event 150 of stream `a` is overwritten."""
    log = open_log(tmp_path)
    first, second = leased(log, "a"), leased(log, "b")
    record(log, first, *[f"a{number:04}-" + "x" * 300 for number in range(1, 301)])
    record(log, second, *[f"b{number:04}-" + "x" * 300 for number in range(1, 51)])
    log.put_blob(b"kept")
    log.send("a", "k", b"message")
    log.close()
    _overwrite_page(tmp_path, b"a0150-")
    return tmp_path


def _overwrite_page(folder: Path, needle: bytes) -> None:
    data = bytearray((folder / FILE).read_bytes())
    page = data.index(needle) // PAGE * PAGE
    data[page : page + PAGE] = b"\xff" * PAGE
    (folder / FILE).write_bytes(bytes(data))


def test_a_corrupt_page_is_named_with_what_to_do(corrupt: Path) -> None:
    log = open_log(corrupt)
    with pytest.raises(StorageDamaged) as found:
        log.read("a")
    assert found.value.message.startswith(f"the log in {corrupt / FILE} is damaged: ")
    assert found.value.next_step is not None
    assert not log.check().is_healthy
    log.close()


def test_a_corrupt_page_is_salvaged_after_a_copy_was_made(corrupt: Path) -> None:
    before = (corrupt / FILE).read_bytes()
    log = open_log(corrupt)
    done = log.salvage()
    assert done.copy == str(corrupt / f"{FILE}.damaged-1")
    assert (corrupt / f"{FILE}.damaged-1").read_bytes() == before
    (cut,) = done.cuts
    assert 130 < cut.kept < 150
    assert cut.moved > 130
    assert [text[:5] for text in texts_of(log, "a")] == [f"a{number:04}" for number in range(1, cut.kept + 1)]
    assert len(log.read("b")) == 50
    assert [message.key for message in log.inbox("a")] == ["k"]
    assert log.check().is_healthy
    assert record(log, leased(log, "a"), "goes on")[0].position == 351
    assert leased(log, "b").epoch == 2
    assert sorted(path.name for path in corrupt.iterdir() if path.name.startswith(f"{FILE}.")) == [f"{FILE}.damaged-1"]
    log.close()


def test_another_process_that_has_the_log_open_sees_the_salvaged_one(corrupt: Path) -> None:
    other, log = open_log(corrupt), open_log(corrupt)
    assert len(other.read("b")) == 50
    log.salvage()
    assert other.last("a") == log.last("a")
    assert record(other, leased(other, "b"), "more")[0].seq == 51
    assert len(log.read("b")) == 51
    other.close()
    log.close()


@pytest.mark.parametrize("count", [16, 100])
def test_a_database_without_its_first_bytes_is_opened_by_a_salvage(tmp_path: Path, count: int) -> None:
    log = open_log(tmp_path)
    record(log, leased(log, "a"), *[str(number) for number in range(200)])
    log.close()
    with (tmp_path / FILE).open("r+b") as file:
        file.write(b"\xff" * count)
    with pytest.raises(StorageDamaged):
        open_log(tmp_path)
    done = salvage_folder(tmp_path)
    assert (done.copy, done.cuts) == (str(tmp_path / f"{FILE}.damaged-1"), ())
    log = open_log(tmp_path)
    assert texts_of(log, "a") == [str(number) for number in range(200)]
    log.close()


def test_a_file_that_never_was_a_database_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"these are my notes\n" * 1000)
    done = salvage_folder(tmp_path)
    assert done.copy is not None
    assert Path(done.copy).read_bytes().startswith(b"these are my notes")
    log = open_log(tmp_path)
    assert (log.streams(), log.check().is_healthy) == ((), True)
    log.close()


def test_rows_are_recovered_when_the_table_does_not_tell_its_last_one(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    record(log, leased(log, "a"), *[f"a{number:04}-" + "x" * 300 for number in range(1, 301)])
    log.close()
    _overwrite_page(tmp_path, b"a0300-")
    done = salvage_folder(tmp_path)
    (cut,) = done.cuts
    assert (cut.moved, 280 < cut.kept < 300) == (0, True)
    log = open_log(tmp_path)
    assert len(log.read("a")) == cut.kept
    assert record(log, leased(log, "a"), "goes on")[0].position == 301, "no position is given twice"
    log.close()


def test_a_second_salvage_keeps_the_copy_of_the_first(corrupt: Path) -> None:
    salvage_folder(corrupt)
    _overwrite_page(corrupt, b"b0010-")
    assert salvage_folder(corrupt).copy == str(corrupt / f"{FILE}.damaged-2")
    assert (corrupt / f"{FILE}.damaged-1").exists()

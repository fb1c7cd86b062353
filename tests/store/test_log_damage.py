"""Damaged bytes are found, the intact prefix stays usable, and a salvage discards nothing."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from log_worker import kill, said, start

from handrail.errors import StorageDamaged
from handrail.ports.care import Cut, Finding
from handrail.ports.log import Append, Checkpoint
from handrail.store.database import FILE
from handrail.store.session import Session, Value
from handrail.store.sqlite_log import SqliteLog, open_log, salvage_folder
from handrail.testing.log_worlds import event, leased, record, texts_of

PAGE = 4096


def tamper(folder: Path, statement: str, *values: Value) -> None:
    session = Session(folder / FILE, 1000)
    session.execute(statement, values).fetchall()
    session.raw.close()


def rows(folder: Path, statement: str) -> list[tuple[object, ...]]:
    session = Session(folder / FILE, 1000)
    found = session.execute(statement).fetchall()
    session.raw.close()
    return found


def written(folder: Path, *texts: str) -> SqliteLog:
    log = open_log(folder)
    lease = leased(log, "a")
    record(log, lease, *texts)
    log.release(lease)
    return log


@pytest.mark.parametrize(
    "change",
    ["payload = x'78'", "payload = x'3300'", "kind = 'other'", "version = 2", "hash = '00'", "seq = 9"],
)
def test_an_edited_event_is_detected_and_the_events_before_it_stay_readable(tmp_path: Path, change: str) -> None:
    log = written(tmp_path, "1", "2", "3", "4")
    tamper(tmp_path, f"UPDATE events SET {change} WHERE seq = 3")
    with pytest.raises(StorageDamaged) as found:
        log.read("a")
    assert (found.value.stream, found.value.intact) == ("a", 2)
    assert [each.payload for each in log.read("a", limit=2)] == [b"1", b"2"]
    assert log.check().findings == (Finding("stream", "a", "damaged after event 2 of 4", 2),)
    log.close()


def test_the_error_about_an_edited_event_says_what_to_do(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2")
    tamper(tmp_path, "UPDATE events SET payload = x'00' WHERE seq = 2")
    with pytest.raises(StorageDamaged) as found:
        log.read("a")
    assert found.value.message == snapshot("stream a is damaged after event 1: what is stored is not what was written")
    assert found.value.next_step == snapshot(
        "run `handrail doctor --repair`: it keeps a copy of the file and every event that is intact"
    )
    log.close()


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_missing_event_is_detected_wherever_it_was(tmp_path: Path, gone: int) -> None:
    log = written(tmp_path, "1", "2", "3")
    tamper(tmp_path, "DELETE FROM events WHERE seq = ?", gone)
    with pytest.raises(StorageDamaged) as found:
        log.read("a")
    assert found.value.intact == gone - 1
    log.close()


def test_a_damaged_tail_is_salvaged_with_its_prefix_intact(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2", "3", "4")
    other = leased(log, "b")
    record(log, other, "b1")
    tamper(tmp_path, "UPDATE events SET payload = x'00' WHERE stream = 'a' AND seq = 3")
    done = log.salvage()
    assert (done.cuts, done.copy, done.left) == ((Cut("a", 2, 2),), None, ())
    assert (texts_of(log, "a"), texts_of(log, "b")) == (["1", "2"], ["b1"])
    assert rows(tmp_path, "SELECT stream, seq, position FROM damaged") == [("a", 3, 3), ("a", 4, 4)]
    assert log.check().healthy
    assert record(log, leased(log, "a"), "3 again")[0].position == 6
    log.close()


def test_a_salvage_gives_back_the_messages_that_the_cut_events_consumed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.send("a", "early", b"x")
    log.send("a", "late", b"y")
    early, late = log.inbox("a")
    lease = leased(log, "a")
    log.append([Append("a", 0, (event("1"),), consumed=(early.id,))], [lease])
    log.append([Append("a", 1, (event("2"),), consumed=(late.id,))], [lease])
    tamper(tmp_path, "UPDATE events SET payload = x'00' WHERE seq = 2")
    log.salvage()
    assert [message.key for message in log.inbox("a")] == ["late"]
    log.close()


def test_a_stream_of_which_nothing_is_intact_is_kept_aside_as_a_whole(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2")
    tamper(tmp_path, "UPDATE events SET payload = x'00' WHERE seq = 1")
    assert log.salvage().cuts == (Cut("a", 0, 2),)
    assert log.streams() == ()
    assert len(rows(tmp_path, "SELECT * FROM damaged")) == 2
    log.close()


def test_a_salvage_of_a_sound_log_changes_nothing(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2")
    before = log.changed()
    done = log.salvage()
    assert (done.cuts, done.copy, done.left) == ((), None, ())
    assert texts_of(log, "a") == ["1", "2"]
    assert log.changed() == before
    log.close()


def test_workrail_edited_snapshot_is_not_believed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    lease = leased(log, "a")
    for seq in (1, 2):
        kept = Checkpoint("a", seq, 1, b"state %d" % seq)
        log.append([Append("a", seq - 1, (event("x"),), checkpoint=kept)], [lease])
    tamper(tmp_path, "UPDATE checkpoints SET state = x'00' WHERE seq = 2")
    assert log.checkpoint("a", 1) == Checkpoint("a", 1, 1, b"state 1")
    assert [finding.part for finding in log.check().findings] == ["checkpoint"]
    log.salvage()
    assert log.check().healthy
    log.close()


def test_an_edited_blob_is_detected_and_reported_as_beyond_repair(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    small, large = log.put_blob(b"small"), log.put_blob(b"large" * 5000)
    tamper(tmp_path, "UPDATE blobs SET data = x'00'")
    for digest in (small, large):
        with pytest.raises(StorageDamaged, match=digest):
            log.get_blob(digest)
    assert {finding.name for finding in log.salvage().left} == {small, large}
    log.close()


def test_an_erased_secret_is_in_no_file_any_more(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    digest = log.put_blob(b"a very secret token")
    assert _files_with(tmp_path, b"very secret")
    assert log.erase_blob(digest)
    assert _files_with(tmp_path, b"very secret") == []
    log.close()


def _files_with(folder: Path, needle: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]


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
    assert log.check().healthy
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
    assert log.check().healthy
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
    assert not log.check().healthy
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
    assert log.check().healthy
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
    written(tmp_path, *[str(number) for number in range(200)]).close()
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
    assert (log.streams(), log.check().healthy) == ((), True)
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

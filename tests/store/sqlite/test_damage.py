"""Damaged bytes are found, the intact prefix stays usable, and a salvage discards nothing."""

from hashlib import sha256
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import StorageDamaged
from handrail.ports.hash_chain import link
from handrail.ports.log import Append, Checkpoint, Head, TimerSet
from handrail.ports.log_care import Finding, TruncatedStream
from handrail.store.sqlite.connection import Session, Value
from handrail.store.sqlite.database import FILE
from handrail.store.sqlite.log import SqliteLog, open_log
from handrail.testing.conformance.log_worlds import event, leased, record, texts_of


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
    assert found.value.message == snapshot("stream a is damaged after event 1: the stored data is not what was written")
    assert found.value.next_step == snapshot(
        "run `handrail doctor --repair`: it keeps a copy of the file and recovers every intact event"
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
    assert (done.cuts, done.copy, done.left) == ((TruncatedStream("a", 2, 2),), None, ())
    assert (texts_of(log, "a"), texts_of(log, "b")) == (["1", "2"], ["b1"])
    assert rows(tmp_path, "SELECT stream, seq, position FROM damaged") == [("a", 3, 3), ("a", 4, 4)]
    assert log.check().is_healthy
    assert record(log, leased(log, "a"), "3 again")[0].position == 6
    log.close()


def test_a_salvage_that_takes_the_newest_rows_away_gives_no_position_again(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2", "3", "4")
    tamper(tmp_path, "UPDATE events SET payload = x'00' WHERE seq = 3")
    log.salvage()
    assert [each.position for each in log.read_all()] == [1, 2], "what keeps the highest position is no event"
    assert (log.streams(), log.check().is_healthy) == (("a",), True)
    assert record(log, leased(log, "a"), "3 again")[0].position == 5
    assert [each.position for each in log.read_all(after=2)] == [5]
    log.close()


def test_a_stream_that_is_lost_as_a_whole_is_named_once(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.send("a", "k", b"x")
    (message,) = log.inbox("a")
    timers = (TimerSet("t", 1.0),)
    log.append([Append("a", 0, (event("1"),), consumed=(message.id,), timers=timers)], [leased(log, "a")])
    tamper(tmp_path, "DELETE FROM events")
    tamper(tmp_path, "DELETE FROM streams")
    assert [log.salvage().cuts for _ in range(2)] == [(TruncatedStream("a", 0, 0),), ()]
    assert (log.due(9.0), log.inbox("a"), log.pending_streams()) == ((), (), ())
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
    assert log.salvage().cuts == (TruncatedStream("a", 0, 2),)
    assert log.streams() == ()
    assert len(rows(tmp_path, "SELECT * FROM damaged")) == 2
    log.close()


def test_a_salvage_of_a_sound_log_changes_nothing(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2")
    before = log.change_token()
    done = log.salvage()
    assert (done.cuts, done.copy, done.left) == ((), None, ())
    assert texts_of(log, "a") == ["1", "2"]
    assert log.change_token() == before
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
    assert log.check().is_healthy
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


def test_a_last_event_rewritten_with_a_fitting_hash_is_detected_by_the_end_of_the_stream(tmp_path: Path) -> None:
    log = written(tmp_path, "1", "2")
    first, second = log.read("a")
    forged = link("a", Head(first.seq, first.hash), event("forged"))
    tamper(tmp_path, "UPDATE events SET payload = ?, hash = ? WHERE seq = ?", b"forged", forged.hash, second.seq)
    with pytest.raises(StorageDamaged):
        log.read("a")
    assert not log.check().is_healthy
    log.close()


def test_an_erased_secret_of_many_pages_is_in_no_file_any_more(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    noise = b"".join(sha256(bytes([number % 256, number // 256])).digest() for number in range(2000))
    digest = log.put_blob(noise[:30_000] + b"a very secret token" + noise[30_000:])
    log.close()
    log = open_log(tmp_path)
    assert _files_with(tmp_path, b"very secret") == [FILE]
    assert log.erase_blob(digest)
    assert _files_with(tmp_path, b"very secret") == []
    log.close()

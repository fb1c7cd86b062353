"""A crash at any commit point leaves all or nothing; threads share a handle; the chain ends at the first change."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.ports.hash_chain import START, intact, link
from handrail.ports.log import Append, Head, Log, NewEvent, OnPoint, StoredEvent, TimerSet
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite import database, statements
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.log import open_log
from handrail.testing.conformance.log_worlds import event, leased, record


class Crash(Exception):
    """The process ends here."""


def _crashing(point: str) -> OnPoint:
    def crash(name: str) -> None:
        if name == point:
            raise Crash(name)

    return crash


def _logs(folder: Path, world: MemoryWorld, adapter: str, on_point: OnPoint | None = None) -> Log:
    return world.open(on_point) if adapter == "memory" else open_log(folder, on_point=on_point)


@pytest.mark.parametrize("adapter", ["memory", "sqlite"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_at_an_append_leaves_all_of_it_or_nothing(tmp_path: Path, adapter: str, moment: str) -> None:
    world = MemoryWorld()
    log = _logs(tmp_path, world, adapter, _crashing(f"append.{moment}"))
    log.send("a", "k", b"x")
    whole = Append(
        "a", 0, (event("1"),), consumed=(1,), timers=(TimerSet("t", 1.0),), summary={"status": "x"}, blobs=(b"b",)
    )
    with pytest.raises(Crash):
        log.append([whole, Append("b", 0, (event("2"),))], [])
    log.close()
    log = _logs(tmp_path, world, adapter)
    counts = len(log.read("a")), len(log.read("b")), 1 - len(log.inbox("a")), len(log.due(9.0)), len(log.summaries())
    assert counts == ((0,) * 5 if moment == "before" else (1,) * 5)
    log.close()


@pytest.mark.parametrize("adapter", ["memory", "sqlite"])
@pytest.mark.parametrize(
    "point",
    [f"{call}.{moment}" for call in ("send", "put_blob", "acquire", "release") for moment in ("before", "after")],
)
def test_after_a_crash_anywhere_everything_can_be_done_again(tmp_path: Path, adapter: str, point: str) -> None:
    world = MemoryWorld()
    log = _logs(tmp_path, world, adapter, _crashing(point))
    with pytest.raises(Crash):
        _work(log)
    log.close()
    log = _logs(tmp_path, world, adapter)
    _work(log)
    assert len(log.inbox("a")) == 1
    assert log.holder("a") is None
    log.close()


def _work(log: Log) -> None:
    log.send("a", "k", b"x")
    log.put_blob(b"blob")
    lease = leased(log, "a")
    record(log, lease, "1")
    log.release(lease)


@pytest.mark.parametrize("adapter", ["memory", "sqlite"])
def test_threads_share_one_handle(tmp_path: Path, adapter: str) -> None:
    log = _logs(tmp_path, MemoryWorld(), adapter)

    def drive(number: int) -> int:
        lease = leased(log, f"run-{number}")
        for step in range(20):
            log.send("inbox", f"{number}-{step}", b"x")
            record(log, lease, str(step))
        log.release(lease)
        return log.last(f"run-{number}").seq

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(drive, range(8))) == [20] * 8
    assert [each.position for each in log.read_all()] == list(range(1, 161))
    assert len(log.inbox("inbox")) == 160
    assert log.check().is_healthy
    log.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_log(tmp_path).close()
    before = len(statements.migrations())
    broken = (*statements.migrations(), "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")
    monkeypatch.setattr(database, "migrations", lambda: broken)
    session = Session(tmp_path / database.FILE, 0)
    with pytest.raises(apsw.SQLError, match="nowhere"):
        database.migrate(session, tmp_path)
    assert database.schema_version(session) == before
    assert session.execute("SELECT name FROM sqlite_schema WHERE name = 'half'").fetchall() == []
    session.raw.close()


def test_a_migration_brings_an_old_database_forward_and_keeps_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path)
    record(log, leased(log, "a"), "1")
    log.close()
    newer = (*statements.migrations(), "ALTER TABLE streams ADD COLUMN label TEXT NOT NULL DEFAULT '';")
    monkeypatch.setattr(database, "migrations", lambda: newer)
    log = open_log(tmp_path)
    record(log, leased(log, "a"), "2")
    assert len(log.read("a")) == 2
    log.close()
    session = Session(tmp_path / database.FILE, 0)
    assert database.schema_version(session) == len(newer)
    session.raw.close()


@given(st.text(max_size=5), st.text(max_size=5), st.integers(1, 9), st.binary(max_size=20), st.binary(max_size=20))
def test_no_two_different_events_have_the_same_hash(
    stream: str, kind: str, version: int, payload: bytes, other: bytes
) -> None:
    one, two = NewEvent(kind, version, payload), NewEvent(kind, version, other)
    assert (link(stream, START, one) == link(stream, START, two)) == (payload == other)
    assert link(stream, START, one) != link(stream + "x", START, one)
    assert link(stream, START, one) != link(stream, START, NewEvent(kind + "x", version, payload))
    assert link(stream, START, one).hash != link(stream, Head(1, START.hash), one).hash


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=6), st.data())
def test_the_chain_reaches_exactly_to_the_first_changed_event(payloads: list[bytes], data: st.DataObject) -> None:
    events: list[StoredEvent] = []
    head = START
    for payload in payloads:
        new = NewEvent("noted", 1, payload)
        head = link("a", head, new)
        events.append(StoredEvent("a", head.seq, head.seq, new.kind, new.version, payload, head.hash))
    assert intact("a", START, events) == head
    at = data.draw(st.integers(0, len(events) - 1))
    good = events[at]
    events[at] = StoredEvent("a", good.seq, good.position, good.kind, good.version, good.payload + b"!", good.hash)
    assert intact("a", START, events).seq == at

"""Logs that earlier versions wrote are brought forward: what was listed stays listed, no position is given twice."""

import json
from pathlib import Path

import apsw
import pytest

from handrail.ports.hash_chain import START, link
from handrail.ports.log import NewEvent
from handrail.store.sqlite import database, statements
from handrail.store.sqlite.connection import FILE, Session
from handrail.store.sqlite.log import open_log, salvage_folder
from handrail.testing.conformance.log_worlds import leased, record

LINE = {"status": "waiting", "workflow": "ask"}


def _old_log(folder: Path, events: int, highest: int) -> None:
    """Write a log as the third format has it: a table of ends, one of lines, and positions counted by SQLite."""
    session = Session(folder / FILE, 0, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    session.execute("PRAGMA journal_mode = WAL").fetchall()
    database.migrate(session, folder, upto=3)
    head = START
    for number in range(events):
        event = NewEvent("noted", 1, str(number).encode())
        head = link("a", head, event)
        row = ("a", head.seq, event.kind, event.version, event.payload, head.hash)
        session.execute(statements.statements()["append_event"], row)
    session.execute("INSERT INTO streams (name, seq, hash) VALUES ('a', ?, ?)", (head.seq, head.hash))
    session.execute(
        "INSERT INTO documents (projection, key, status, position, document) VALUES ('runs', 'a', 'waiting', ?, ?)",
        (events, json.dumps(LINE)),
    )
    session.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", (highest,))
    session.raw.close()


def _query(folder: Path, text: str) -> list[tuple[object, ...]]:
    session = Session(folder / FILE, 0)
    found = session.execute(text).fetchall()
    session.raw.close()
    return found


def test_an_old_log_is_listed_and_goes_on(tmp_path: Path) -> None:
    _old_log(tmp_path, events=3, highest=3)
    log = open_log(tmp_path)
    assert [(row.key, row.position, row.document) for row in log.summaries()] == [("a", 3, LINE)]
    assert [event.payload for event in log.read("a")] == [b"0", b"1", b"2"]
    assert record(log, leased(log, "a"), "3")[0].position == 4
    assert log.check().is_healthy
    log.close()
    assert _query(tmp_path, "SELECT * FROM sqlite_sequence") == [], "no page is written for it any more"
    assert _query(tmp_path, "SELECT * FROM documents") == []


def test_a_position_that_an_old_log_gave_and_took_away_is_not_given_again(tmp_path: Path) -> None:
    _old_log(tmp_path, events=2, highest=9)
    log = open_log(tmp_path)
    assert record(log, leased(log, "a"), "2")[0].position == 10
    assert [event.position for event in log.read_all()] == [1, 2, 10], "what keeps the position is no event"
    assert log.streams() == ("a",)
    assert log.check().is_healthy
    log.close()


@pytest.mark.parametrize("page", [1, 3])
def test_an_old_log_that_is_damaged_is_rebuilt_and_brought_forward(tmp_path: Path, page: int) -> None:
    _old_log(tmp_path, events=3, highest=9)
    _query(tmp_path, "PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / FILE).open("r+b") as file:
        file.seek((page - 1) * 4096 + 200 * (page == 1))
        file.write(b"\x00" * 3000)
    salvage_folder(tmp_path)
    log = open_log(tmp_path)
    assert log.check().is_healthy
    assert record(log, leased(log, "b"), "new")[0].position > 3
    log.close()

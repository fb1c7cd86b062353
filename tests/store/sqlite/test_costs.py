"""What an append costs does not depend on how much was recorded before it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from handrail.ports.log import Append, Checkpoint, Log, NewEvent
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.database import FILE, Database
from handrail.store.sqlite.log import open_log
from handrail.store.sqlite.streams import SqliteStreams
from handrail.testing.conformance.log_worlds import leased


@dataclass
class Bench:
    log: Log
    streams: SqliteStreams
    session: Session
    steps: int = 0

    def count(self) -> bool:
        self.steps += 1
        return False


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    log, database = open_log(tmp_path), Database(tmp_path / FILE)
    with database.reading() as session:
        found = Bench(log, SqliteStreams(database), session)
        session.raw.set_progress_handler(found.count, 1)
        yield found
        session.raw.set_progress_handler(None)
    database.close()
    log.close()


def _pages(session: Session) -> int:
    counters = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
    return sum(session.raw.status(counter)[0] for counter in counters)


def test_workrail_growth_an_append_does_the_same_work_after_a_long_history(bench: Bench) -> None:
    lease = leased(bench.log, "a")
    costs: dict[int, tuple[int, int]] = {}
    for end in range(3000):
        before = bench.steps, _pages(bench.session)
        kept = Checkpoint("a", end + 1, 1, b"state") if end % 100 == 10 else None
        bench.streams.append([Append("a", end, (NewEvent("noted", 1, b"x" * 200),), checkpoint=kept)], [lease])
        costs[end] = bench.steps - before[0], _pages(bench.session) - before[1]
    assert costs[50][0] == costs[2950][0], "the same number of steps of SQLite's machine"
    assert costs[2950][1] <= costs[50][1] + 8, "pages grow with the depth of the trees only"
    assert costs[210][0] == costs[2910][0], "with a checkpoint too"


def test_reading_the_end_of_a_long_stream_costs_what_is_read(bench: Bench) -> None:
    lease = leased(bench.log, "a")
    costs: list[int] = []
    for end in (0, 1000, 2000):
        bench.streams.append([Append("a", end, (NewEvent("noted", 1, b"x"),) * 1000)], [lease])
        before = bench.steps
        assert len(bench.streams.read("a", after=end + 990)) == 10
        costs.append(bench.steps - before)
    assert len(set(costs)) == 1


def test_a_step_boundary_is_one_commit(tmp_path: Path) -> None:
    points: list[str] = []
    log = open_log(tmp_path, on_point=points.append)
    log.send("a", "k", b"x")
    points.clear()
    whole = Append("a", 0, (NewEvent("noted", 1, b"x"),) * 3, consumed=(1,), summary={}, blobs=(b"prompt",))
    log.append([whole, Append("b", 0, (NewEvent("noted", 1, b"x"),))], [])
    assert points == ["append.before", "append.after"]
    log.close()

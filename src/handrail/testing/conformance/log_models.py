"""What a log must do with read models."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.ports.log import RUNS, Append, Document, Filter, Lease, Log, Projection, StoredEvent
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased, record


def _count(before: Document | None, _event: StoredEvent) -> Document:
    seen = 0 if before is None else before["count"]
    return {"count": seen + 1 if isinstance(seen, int) else 0}


def _counting(version: int = 1, name: str = "count") -> Projection:
    return Projection(name, version, key=lambda each: None if each.payload == b"skip" else each.stream, fold=_count)


class ModelConformance:
    """Documents that can be thrown away and built again from the events."""

    def test_summaries_are_the_newest_first_and_can_be_filtered(self, world: LogWorld) -> None:
        with handle(world) as log:
            leases = {name: leased(log, name) for name in ("run/a", "run/b", "other", "run%")}
            for name, status in (("run/a", "running"), ("run/b", "failed"), ("other", "running"), ("run%", "failed")):
                _summarise(log, leases[name], status)
            _summarise(log, leases["run/a"], "failed")
            assert [row.key for row in log.summaries()] == ["run/a", "run%", "other", "run/b"]
            assert [row.key for row in log.summaries(Filter(prefix="run/"))] == ["run/a", "run/b"]
            assert [row.key for row in log.summaries(Filter(status="failed", limit=2))] == ["run/a", "run%"]
            assert log.summaries(Filter(status="nothing")) == ()
            assert log.summaries(Filter(limit=1))[0].document == {"status": "failed", "title": "é"}

    def test_a_summary_may_change_without_an_event(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            _summarise(log, lease, "running")
            log.append([Append("a", 1, summary={"status": "waiting"})], [lease])
            assert [row.document for row in log.summaries()] == [{"status": "waiting"}]

    def test_a_projection_folds_each_event_once(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            lease = leased(log, "a")
            record(log, lease, "1", "skip", "2")
            assert log.apply_projection(_counting()) == 3
            record(log, lease, "3")
            assert other.apply_projection(_counting()) == 1
            assert other.apply_projection(_counting()) == 0
            assert [row.document for row in log.documents("count")] == [{"count": 3}]
            assert log.documents("count", Filter(prefix="b")) == ()

    def test_a_projection_of_another_version_begins_again(self, world: LogWorld) -> None:
        with handle(world) as log:
            record(log, leased(log, "a"), "1", "2")
            log.apply_projection(_counting(1))
            assert log.apply_projection(_counting(2)) == 2
            assert [row.document for row in log.documents("count")] == [{"count": 2}]

    def test_a_read_model_can_be_thrown_away_and_built_again(self, world: LogWorld) -> None:
        with handle(world) as log:
            record(log, leased(log, "a"), *[str(number) for number in range(1200)])
            log.apply_projection(_counting())
            before = log.documents("count")
            log.rebuild("count")
            assert log.documents("count") == ()
            assert log.apply_projection(_counting()) == 1200
            assert log.documents("count") == before

    def test_summaries_can_be_built_again_from_the_events(self, world: LogWorld) -> None:
        with handle(world) as log:
            _summarise(log, leased(log, "a"), "running")
            log.rebuild(RUNS)
            assert log.summaries() == ()
            log.apply_projection(_counting(name=RUNS))
            assert [(row.key, row.document) for row in log.summaries()] == [("a", {"count": 1})]


def _summarise(log: Log, lease: Lease, status: str) -> None:
    end = log.last(lease.stream).seq
    summary: Document = {"status": status, "title": "é"}
    log.append([Append(lease.stream, end, (event("x"),), summary=summary)], [lease])

"""What a log must do with summaries."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.ports.log import Append, Document, Filter, Lease, Log
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased


class SummaryConformance:
    """The line of each stream in lists."""

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

    def test_summaries_can_be_thrown_away_and_left_again(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            lease = leased(log, "a")
            _summarise(log, lease, "running")
            other.forget_summaries()
            assert log.summaries() == ()
            assert log.last("a").seq == 1
            _summarise(log, lease, "failed")
            assert [row.document["status"] for row in other.summaries()] == ["failed"]


def _summarise(log: Log, lease: Lease, status: str) -> None:
    end = log.last(lease.stream).seq
    summary: Document = {"status": status, "title": "é"}
    log.append([Append(lease.stream, end, (event("x"),), summary=summary)], [lease])

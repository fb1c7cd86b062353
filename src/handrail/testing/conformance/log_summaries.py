"""How a log must handle summaries."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.model.history.run_lines import Facts, Filter
from handrail.ports.log import Append, Document, Lease, Log
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased


class SummaryConformance:
    """Tests of the summary of each stream in lists."""

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

    def test_streams_that_are_no_runs_are_listed_only_when_asked_for(self, world: LogWorld) -> None:
        with handle(world) as log:
            for name in ("issue:7", "a", "schedule:nightly"):
                _summarise(log, leased(log, name), "running")
            assert [row.key for row in log.summaries()] == ["a"]
            assert [row.key for row in log.summaries(Filter(status="running", limit=1))] == ["a"]
            assert log.summaries(Filter(prefix="issue:")) == ()
            assert [row.key for row in log.summaries(Filter(prefix="issue:", runs_only=False))] == ["issue:7"]
            every = log.summaries(Filter(status="running", runs_only=False))
            assert [row.key for row in every] == ["schedule:nightly", "a", "issue:7"]
            assert log.streams() == ("a", "issue:7", "schedule:nightly")

    def test_lines_are_found_by_what_is_recorded_of_a_run(self, world: LogWorld) -> None:
        with handle(world) as log:
            _begin(log, "a-1", "a", 1.0, repository="/shop")
            _begin(log, "b-1", "b", 2.0)
            _begin(log, "inside", "b", 3.0, parent="a-1", root="a-1")
            assert log.keys(Filter(workflow="b")) == ("inside", "b-1")
            assert log.keys(Filter(repositories=("/shop",))) == ("a-1",)
            assert log.keys(Filter(repositories=("/shop", "/other"))) == ("a-1",)
            assert log.keys(Filter(parent="a-1")) == ("inside",)
            assert log.keys(Filter(root="a-1", order="made")) == ("a-1", "inside")
            assert log.keys(Filter(roots=("a-1", "c-1"), order="made")) == ("a-1", "inside")
            assert log.keys(Filter(roots=("a-1", "b-1"), order="made")) == ("a-1", "b-1", "inside")
            assert log.keys(Filter(top=True, order="started")) == ("b-1", "a-1")
            assert log.keys(Filter(inner=True)) == ("inside",)
            assert log.keys(Filter(key="a")) == ()
            assert log.keys(Filter(holding=("repository",))) == ("a-1",)
            assert [row.facts for row in log.summaries(Filter(key="inside"))] == [Facts("b", None, "a-1", "a-1", 3.0)]

    def test_pages_follow_the_order_by_start(self, world: LogWorld) -> None:
        with handle(world) as log:
            for name, at in (("a", 1.0), ("b", 2.0), ("c", 2.0), ("d", 3.0)):
                _begin(log, name, "w", at)
            page = Filter(order="started", limit=2, statuses=("running", "failed"))
            first = log.summaries(page)
            assert [row.key for row in first] == ["d", "c"]
            assert log.keys(page._replace(before=(first[-1].facts.started, first[-1].key))) == ("b", "a")
            assert log.count(page) == 4

    def test_a_line_that_nobody_can_read_says_so_and_spoils_no_other(self, world: LogWorld) -> None:
        with handle(world) as log:
            _summarise(log, leased(log, "a"), "running")
            log.append([Append("b", 0, (event("x"),), summary={"status": "running", "started_at": "noon"})], [])
            spoilt, good = log.summaries()
            assert (spoilt.document["status"], spoilt.document["reason"]) == ("blocked", "fault")
            assert "cannot be read" in str(spoilt.document["message"])
            assert good.document["status"] == "running"

    def test_a_summary_may_change_without_an_event(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            _summarise(log, lease, "running")
            log.append([Append("a", 1, summary={"status": "waiting"})], [lease])
            assert [row.document for row in log.summaries()] == [{"status": "waiting"}]


def _summarise(log: Log, lease: Lease, status: str) -> None:
    end = log.last(lease.stream).seq
    summary: Document = {"status": status, "title": "é"}
    log.append([Append(lease.stream, end, (event("x"),), summary=summary)], [lease])


def _begin(log: Log, name: str, workflow: str, at: float, **more: str) -> None:
    summary: Document = {"status": "running", "workflow": workflow, "started_at": at, **more}
    log.append([Append(name, 0, (event("x"),), summary=summary)], [])

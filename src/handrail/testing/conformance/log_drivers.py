"""How a log must behave when one writer appends step by step, for which an adapter may have a fast path."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.errors import LeaseLost, MessagesWaiting, VersionConflict
from handrail.model.history.run_lines import Filter
from handrail.ports.log import Append, Lease, Log, StoredEvent
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased, record, refusing


class DrivingConformance:
    """Tests of successive appends with a summary, by a writer that has not read its inbox."""

    def test_each_append_follows_on_the_one_before(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            for number in range(5):
                _step(log, lease, number)
            stored = log.read("a")
            assert [each.payload for each in stored] == [b"0", b"1", b"2", b"3", b"4"]
            assert [(row.key, row.position) for row in log.summaries()] == [("a", stored[-1].position)]
            assert log.check().is_healthy

    def test_a_message_stops_the_next_append_until_it_was_read(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            lease = leased(log, "a")
            _step(log, lease, 0)
            _step(log, lease, 1)
            other.send("a", "k", b"stop")
            with refusing(MessagesWaiting):
                _step(log, lease, 2)
            assert len(log.read("a")) == 2
            (message,) = log.inbox("a")
            log.append([Append("a", 2, (event("heard"),), consumed=(message.id,))], [lease])
            assert _step(log, lease, 3)[0].seq == 4

    def test_a_writer_that_lost_its_lease_appends_no_more(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            lease = leased(log, "a")
            _step(log, lease, 0)
            _step(log, lease, 1)
            log.release(lease)
            newer = leased(other, "a")
            with refusing(LeaseLost):
                _step(log, lease, 2)
            assert _step(other, newer, 2)[0].seq == 3

    def test_a_writer_learns_that_others_wrote_in_between(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            lease = leased(log, "a")
            _step(log, lease, 0)
            log.release(lease)
            between = leased(other, "a")
            record(other, between, "between")
            other.release(between)
            lease = leased(log, "a")
            with refusing(VersionConflict):
                log.append([Append("a", 1, (event("1"),), summary={"status": "running"}, if_quiet=True)], [lease])
            assert _step(log, lease, 2)[0].seq == 3
            assert log.check().is_healthy

    def test_a_line_is_found_by_its_newest_status(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            for number, status in enumerate(("running", "running", "waiting", "waiting", "running")):
                _step(log, lease, number, status)
                assert [row.key for row in log.summaries(Filter(status=status))] == ["a"]
            assert log.summaries(Filter(status="waiting")) == ()

    def test_other_streams_go_their_own_way(self, world: LogWorld) -> None:
        with handle(world) as log:
            leases = [leased(log, name) for name in ("a", "b")]
            for number in range(6):
                _step(log, leases[number % 2], number)
            assert [each.position for each in log.read_all()] == [1, 2, 3, 4, 5, 6]
            assert [each.payload for each in log.read("b")] == [b"1", b"3", b"5"]


def _step(log: Log, lease: Lease, number: int, status: str = "running") -> tuple[StoredEvent, ...]:
    end = log.last(lease.stream).seq
    summary = {"status": status, "number": number}
    return log.append([Append(lease.stream, end, (event(str(number)),), summary=summary, if_quiet=True)], [lease])

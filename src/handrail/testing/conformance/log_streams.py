"""How a log must handle streams, checkpoints and timers."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.errors import LeaseLost, VersionConflict
from handrail.ports.hash_chain import START, intact
from handrail.ports.log import Append, Checkpoint, Lease, Log, NewEvent, Timer, TimerCleared, TimerSet
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased, record, refusing, texts_of


class StreamConformance:
    """Tests of events and their order."""

    def test_a_stream_that_does_not_exist_is_empty(self, world: LogWorld) -> None:
        with handle(world) as log:
            assert log.last("a") == START
            assert log.read("a") == ()
            assert log.streams() == ()

    def test_events_come_back_as_they_were_recorded(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            payloads = [b"", b"\x00\xff", "é".encode() * 4000, b'{"a":1}']
            stored = log.append([Append("a", 0, tuple(NewEvent("kind", 3, each) for each in payloads))], [lease])
            assert log.read("a") == stored
            assert [each.payload for each in stored] == payloads
            assert [(each.kind, each.version) for each in stored] == [("kind", 3)] * 4

    def test_seqs_count_in_each_stream_and_positions_over_all(self, world: LogWorld) -> None:
        with handle(world) as log:
            first, second = leased(log, "a"), leased(log, "b")
            stored = [*record(log, first, "1", "2"), *record(log, second, "3"), *record(log, first, "4")]
            assert [(each.stream, each.seq) for each in stored] == [("a", 1), ("a", 2), ("b", 1), ("a", 3)]
            positions = [each.position for each in stored]
            assert positions == sorted(set(positions))
            assert log.read_all() == tuple(stored)
            assert log.streams() == ("a", "b")

    def test_a_reader_continues_where_it_stopped(self, world: LogWorld) -> None:
        with handle(world) as log:
            stored = record(log, leased(log, "a"), "1", "2", "3", "4")
            assert log.read("a", after=1, limit=2) == stored[1:3]
            assert log.read("a", after=4) == ()
            assert log.read_all(after=stored[1].position) == stored[2:]
            assert log.read_all(limit=1) == stored[:1]

    def test_each_hash_covers_the_event_and_the_hash_before_it(self, world: LogWorld) -> None:
        with handle(world) as log:
            record(log, leased(log, "a"), "1", "2", "3")
            assert intact("a", START, log.read("a")) == log.last("a")
            assert log.check().is_healthy

    def test_an_append_at_another_version_is_refused_as_a_whole(self, world: LogWorld) -> None:
        with handle(world) as log:
            leases = [leased(log, "a"), leased(log, "b")]
            record(log, leases[0], "1")
            right, wrong = Append("b", 0, (event("x"),)), Append("a", 0, (event("y"),))
            with refusing(VersionConflict):
                log.append([right, wrong], leases)
            assert (texts_of(log, "a"), texts_of(log, "b")) == (["1"], [])

    def test_a_child_stream_begins_in_the_append_of_its_parent(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "parent")
            stored = log.append(
                [Append("parent", 0, (event("started child"),)), Append("child", 0, (event("started"),))], [lease]
            )
            assert [each.stream for each in stored] == ["parent", "child"]
            with refusing(LeaseLost):
                log.append([Append("child", 1, (event("again"),))], [lease])

    def test_a_new_stream_needs_no_lease_and_begins_only_once(self, world: LogWorld) -> None:
        with handle(world) as log:
            begin = Append("a", 0, (event("started"),))
            log.append([begin], [])
            with refusing(VersionConflict):
                log.append([begin], [])

    def test_a_stream_that_exists_needs_its_lease(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.append([Append("a", 0, (event("started"),))], [])
            with refusing(LeaseLost):
                log.append([Append("a", 1, (event("more"),))], [])
            with refusing(LeaseLost):
                log.append([Append("a", 1, (event("more"),))], [Lease("a", 7, "nobody")])

    def test_what_one_process_records_another_reads(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            stored = record(one, leased(one, "a"), "1")
            assert two.read("a") == stored
            assert two.last("a") == one.last("a")

    def test_the_change_token_differs_after_every_write_of_any_process(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            seen = [(one.change_token(), two.change_token())]
            one.send("a", "1", b"")
            seen.append((one.change_token(), two.change_token()))
            two.put_blob(b"x")
            seen.append((one.change_token(), two.change_token()))
            assert len({token for token, _ in seen}) == len({token for _, token in seen}) == 3
            assert (one.change_token(), two.change_token()) == seen[-1]

    def test_a_checkpoint_is_given_only_to_the_reducer_that_wrote_it(self, world: LogWorld) -> None:
        with handle(world) as log:
            self._checkpoint(log, Checkpoint("a", 1, 7, b"state" * 5000))
            assert log.checkpoint("a", 7) == Checkpoint("a", 1, 7, b"state" * 5000)
            assert log.checkpoint("a", 8) is None
            assert log.checkpoint("b", 7) is None

    def test_the_newest_checkpoint_wins_and_only_two_are_kept(self, world: LogWorld) -> None:
        with handle(world) as log:
            lease = leased(log, "a")
            for seq, reducer in enumerate((1, 1, 2, 2), start=1):
                kept = Checkpoint("a", seq, reducer, bytes([seq]))
                log.append([Append("a", seq - 1, (event("x"),), checkpoint=kept)], [lease])
            assert log.checkpoint("a", 2) == Checkpoint("a", 4, 2, b"\x04")
            assert log.checkpoint("a", 1) is None

    def test_a_checkpoint_after_an_event_that_does_not_exist_is_refused(self, world: LogWorld) -> None:
        with handle(world) as log:
            for checkpoint in (Checkpoint("a", 2, 1, b""), Checkpoint("a", 0, 1, b""), Checkpoint("b", 1, 1, b"")):
                with refusing(VersionConflict):
                    self._checkpoint(log, checkpoint)
            assert log.last("a") == START

    def test_timers_are_due_in_order_and_can_be_moved_and_cleared(self, world: LogWorld) -> None:
        with handle(world) as log:
            timers = (TimerSet("late", 30.0), TimerSet("soon", 10.0), TimerSet("never", 5.0), TimerCleared("never"))
            log.append([Append("a", 0, (event("x"),), timers=timers)], [])
            log.append([Append("b", 0, (event("x"),), timers=(TimerSet("soon", 20.5), TimerCleared("none")))], [])
            assert log.due(5.0) == ()
            assert log.due(20.5) == (Timer("a", "soon", 10.0), Timer("b", "soon", 20.5))
            log.append([Append("a", 1, timers=(TimerSet("soon", 40.0),))], [leased(log, "a")])
            assert log.due(100.0, limit=2) == (Timer("b", "soon", 20.5), Timer("a", "late", 30.0))

    def test_a_refused_append_leaves_nothing_behind(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("a", "k", b"hello")
            refused = Append(
                "a",
                0,
                (event("x"),),
                consumed=(log.inbox("a")[0].id, 99),
                timers=(TimerSet("t", 1.0),),
                summary={"status": "running"},
            )
            with refusing(VersionConflict):
                log.append([refused], [])
            assert (log.read_all(), log.due(9.0), log.summaries()) == ((), (), ())
            assert len(log.inbox("a")) == 1

    def test_a_stream_is_cut_back_with_everything_that_was_written_beside_what_is_cut(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.append([Append("a", 0, (event("1"), event("2"))), Append("b", 0, (event("1"),))], [])
            first = log.read("a")[:1]
            log.send("a", "k", b"hello")
            lease = leased(log, "a")
            later = Append("a", 2, (event("3"),), (log.inbox("a")[0].id,), Checkpoint("a", 3, 1, b"s"))
            log.append([later._replace(timers=(TimerSet("t", 1.0),), summary={"status": "running"})], [lease])
            cut = log.cut(lease, 1)
            assert (cut.stream, cut.kept, cut.moved, cut.lost) == ("a", 1, 2, 0)
            assert (log.read("a"), log.last("a").hash) == (first, first[0].hash)
            assert [message.payload for message in log.inbox("a")] == [b"hello"]
            assert (log.checkpoint("a", 1), log.due(9.0), log.summaries()) == (None, (), ())
            assert len(log.read("b")) == 1
            (again,) = log.append([Append("a", 1, (event("4"),))], [lease])
            assert again.position == 5
            assert log.check().is_healthy
            assert log.cut(lease, 0).moved == 2
            assert (log.last("a"), log.streams()) == (START, ("b",))

    def test_a_stream_is_not_cut_without_its_lease(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.append([Append("a", 0, (event("1"),))], [])
            lease = leased(log, "a")
            log.release(lease)
            with refusing(LeaseLost):
                log.cut(lease, 0)
            assert log.last("a").seq == 1

    @staticmethod
    def _checkpoint(log: Log, checkpoint: Checkpoint) -> None:
        log.append([Append("a", 0, (event("x"),), checkpoint=checkpoint)], [])

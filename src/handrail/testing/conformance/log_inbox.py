"""How a log must handle the inbox of a stream."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from handrail.errors import MessagesWaiting, VersionConflict
from handrail.ports.log import Append
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased, refusing


class InboxConformance:
    """Tests of messages that others send to a stream."""

    def test_messages_wait_in_the_order_in_which_they_came(self, world: LogWorld) -> None:
        with handle(world) as log, handle(world) as other:
            assert log.send("a", "1", b"one")
            assert other.send("a", "2", b"two")
            assert log.send("b", "1", b"three")
            assert [(each.key, each.payload) for each in log.inbox("a")] == [("1", b"one"), ("2", b"two")]
            assert [each.key for each in other.inbox("a", limit=1)] == ["1"]
            assert log.pending_streams() == ("a", "b")

    def test_a_second_message_with_the_same_key_is_dropped(self, world: LogWorld) -> None:
        with handle(world) as log:
            assert log.send("a", "k", b"first")
            assert not log.send("a", "k", b"second")
            assert [each.payload for each in log.inbox("a")] == [b"first"]

    def test_a_consumed_message_is_gone_and_its_key_stays_used(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("a", "k", b"x")
            message = log.inbox("a")[0]
            log.append([Append("a", 0, (event("got it"),), consumed=(message.id,))], [])
            assert (log.inbox("a"), log.pending_streams()) == ((), ())
            assert not log.send("a", "k", b"x")

    def test_an_append_that_wants_a_quiet_inbox_is_refused_while_a_message_waits(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("b", "k", b"of another stream")
            log.append([Append("a", 0, (event("one"),), if_quiet=True)], [])
            log.send("a", "k", b"x")
            lease, message = leased(log, "a"), log.inbox("a")[0]
            with refusing(MessagesWaiting):
                log.append([Append("a", 1, (event("two"),), if_quiet=True)], [lease])
            assert log.last("a").seq == 1
            log.append([Append("a", 1, (event("two"),), consumed=(message.id,), if_quiet=True)], [lease])
            assert (log.last("a").seq, log.inbox("a")) == (2, ())

    def test_a_message_is_consumed_once(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("a", "k", b"x")
            lease, message = leased(log, "a"), log.inbox("a")[0]
            log.append([Append("a", 0, (event("got it"),), consumed=(message.id,))], [lease])
            with refusing(VersionConflict):
                log.append([Append("a", 1, (event("again"),), consumed=(message.id,))], [lease])
            assert log.last("a").seq == 1

    def test_a_stream_cannot_consume_the_message_of_another(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("b", "k", b"x")
            with refusing(VersionConflict):
                log.append([Append("a", 0, (event("x"),), consumed=(log.inbox("b")[0].id,))], [])
            assert log.pending_streams() == ("b",)

    def test_a_message_may_be_consumed_without_an_event(self, world: LogWorld) -> None:
        with handle(world) as log:
            log.send("a", "k", b"x")
            assert log.append([Append("a", 0, consumed=(log.inbox("a")[0].id,))], [leased(log, "a")]) == ()
            assert (log.inbox("a"), log.streams()) == ((), ())

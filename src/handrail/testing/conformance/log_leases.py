"""How a log must handle leases."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

import os

from handrail.errors import LeaseLost
from handrail.ports.log import Append, Holder
from handrail.testing.conformance.log_worlds import LogWorld, event, handle, leased, record, refusing


class LeaseConformance:
    """Tests of who may append."""

    def test_only_one_holds_a_lease_and_others_hear_who(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            lease = leased(one, "a", "first")
            refused = two.acquire("a", "second")
            assert isinstance(refused, Holder)
            assert (refused.name, refused.pid) == ("first", os.getpid())
            assert one.holder("a") == two.holder("a") == refused
            assert lease.stream == "a"

    def test_the_same_process_does_not_get_a_lease_twice(self, world: LogWorld) -> None:
        with handle(world) as log:
            leased(log, "a", "first")
            assert isinstance(log.acquire("a", "second"), Holder)

    def test_leases_of_other_streams_do_not_matter(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            leased(one, "a")
            leased(two, "b")
            assert two.holder("c") is None

    def test_a_released_lease_is_free_and_worth_nothing(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            lease = leased(one, "a")
            one.release(lease)
            assert two.holder("a") is None
            with refusing(LeaseLost):
                one.append([Append("a", 0, (event("x"),))], [lease])
            assert leased(two, "a").epoch > lease.epoch

    def test_a_holder_that_lost_its_lease_can_write_nothing(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            stale = leased(one, "a")
            record(one, stale, "1")
            one.close()
            fresh = leased(two, "a")
            record(two, fresh, "2")
            with refusing(LeaseLost):
                two.append([Append("a", 2, (event("late"),))], [stale])
            with refusing(LeaseLost):
                two.append([Append("b", 0, (event("late"),))], [stale])
            assert two.last("a").seq == 2

    def test_releasing_a_lost_lease_does_not_take_it_from_its_holder(self, world: LogWorld) -> None:
        with handle(world) as one, handle(world) as two:
            stale = leased(one, "a")
            one.release(stale)
            fresh = leased(two, "a")
            one.release(stale)
            two.release(stale)
            record(two, fresh, "1")
            assert two.holder("a") is not None

    def test_closing_a_handle_gives_its_leases_back(self, world: LogWorld) -> None:
        with handle(world) as two:
            with handle(world) as one:
                leased(one, "a")
            assert two.holder("a") is None
            leased(two, "a")

    def test_any_text_may_name_a_stream(self, world: LogWorld) -> None:
        with handle(world) as log:
            for stream in ("../escape", "a/b", "x" * 500, "ünï cöde", "*?'\"", ""):
                lease = leased(log, stream)
                record(log, lease, "1")
                assert log.last(stream).seq == 1
                log.release(lease)

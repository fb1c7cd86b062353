"""Whatever happens, the log on SQLite and the log in memory answer the same."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from handrail.errors import HandrailError
from handrail.model.history.run_lines import Filter
from handrail.ports.log import Append, Checkpoint, Holder, Lease, Log, NewEvent, TimerCleared, TimerSet
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log

STREAMS = st.sampled_from(["a", "b", "é/c"])
HANDLES = st.sampled_from([0, 1])
KEYS = st.sampled_from(["k", "l", "m"])
STATUSES = st.sampled_from(["running", "failed"])
EVENTS = st.lists(st.builds(NewEvent, st.text(max_size=3), st.integers(1, 3), st.binary(max_size=40)), max_size=3)
TIMERS = st.one_of(st.builds(TimerSet, KEYS, st.floats(0, 100)), st.builds(TimerCleared, KEYS))
BLOBS = st.sampled_from([b"", b"one", b"large" * 2000])


class TwoLogs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        folder, world = Path(self.temporary.name), MemoryWorld(lambda: 7.0)
        self.worlds: list[Callable[[], Log]] = [world.open, lambda: open_log(folder, clock=lambda: 7.0)]
        self.handles = [[open_one() for open_one in self.worlds] for _ in range(2)]
        self.leases: list[Lease] = []

    def teardown(self) -> None:
        for pair in self.handles:
            for log in pair:
                log.close()
        self.temporary.cleanup()

    def both(self, handle: int, call: Callable[[Log], object]) -> Any:
        memory, sqlite = (_outcome(log, call) for log in self.handles[handle])
        assert memory == sqlite
        return memory

    @rule(handle=HANDLES, stream=STREAMS)
    def acquire(self, handle: int, stream: str) -> None:
        got = self.both(handle, lambda log: log.acquire(stream, f"handle {handle}"))
        if isinstance(got, Lease):
            self.leases.append(got)

    @rule(handle=HANDLES, data=st.data())
    def release(self, handle: int, data: st.DataObject) -> None:
        if self.leases:
            lease = data.draw(st.sampled_from(self.leases))
            self.both(handle, lambda log: log.release(lease))

    @rule(handle=HANDLES)
    def restart(self, handle: int) -> None:
        for log in self.handles[handle]:
            log.close()
        self.handles[handle] = [open_one() for open_one in self.worlds]

    @rule(handle=HANDLES, streams=st.lists(STREAMS, min_size=1, max_size=2), data=st.data())
    def append(self, handle: int, streams: list[str], data: st.DataObject) -> None:
        appends = [data.draw(self._appends(handle, stream)) for stream in streams]
        newest = {lease.stream: lease for lease in self.leases}
        leases = [lease for lease in newest.values() if lease.stream in streams]
        if self.leases and data.draw(st.integers(0, 5)) == 0:
            leases = [data.draw(st.sampled_from(self.leases))]
        self.both(handle, lambda log: log.append(appends, leases))

    def _appends(self, handle: int, stream: str) -> st.SearchStrategy[Append]:
        log = self.handles[handle][0]
        end = log.last(stream).seq
        waiting = [message.id for message in log.inbox(stream)]
        return st.builds(
            Append,
            st.just(stream),
            st.sampled_from([end, end, end, end, end + 1, 0]),
            EVENTS.map(tuple),
            st.sampled_from([(), (), tuple(waiting[:1]), tuple(waiting), (1,)]),
            st.none() | st.builds(Checkpoint, st.just(stream), st.integers(0, end + 1), st.integers(1, 2), BLOBS),
            st.lists(TIMERS, max_size=2).map(tuple),
            st.none() | STATUSES.map(lambda status: {"status": status}),
            st.lists(BLOBS, max_size=1).map(tuple),
        )

    @rule(handle=HANDLES, stream=STREAMS, key=KEYS, payload=st.binary(max_size=5))
    def send(self, handle: int, stream: str, key: str, payload: bytes) -> None:
        self.both(handle, lambda log: log.send(stream, key, payload))

    @rule(handle=HANDLES, data=BLOBS)
    def put_and_get(self, handle: int, data: bytes) -> None:
        digest = self.both(handle, lambda log: log.put_blob(data))
        self.both(handle, lambda log: log.get_blob(digest))

    @rule(handle=HANDLES, data=BLOBS)
    def erase(self, handle: int, data: bytes) -> None:
        digest = self.both(handle, lambda log: log.put_blob(data))
        self.both(handle, lambda log: log.erase_blob(digest))
        self.both(handle, lambda log: log.get_blob(digest))

    @rule(handle=HANDLES, stream=STREAMS, after=st.integers(0, 9), limit=st.none() | st.integers(0, 5))
    def read(self, handle: int, stream: str, after: int, limit: int | None) -> None:
        self.both(handle, lambda log: log.read(stream, after, limit))
        self.both(handle, lambda log: log.read_all(after, limit))
        self.both(handle, lambda log: log.inbox(stream, limit))
        self.both(handle, lambda log: log.due(50.0, limit))
        self.both(handle, lambda log: [log.checkpoint(stream, reducer) for reducer in (1, 2)])

    @invariant()
    def all_is_the_same(self) -> None:
        for handle in (0, 1):
            self.both(handle, _everything)


def _outcome(log: Log, call: Callable[[Log], object]) -> object:
    try:
        result = call(log)
    except HandrailError as error:
        return type(error), error.message
    return result.name if isinstance(result, Holder) else result


def _everything(log: Log) -> object:
    streams = log.streams()
    holders = [log.holder(stream) for stream in ("a", "b", "é/c")]
    return (
        [log.read(stream) for stream in streams],
        [log.last(stream) for stream in streams],
        log.read_all(),
        log.pending_streams(),
        [None if holder is None else holder.name for holder in holders],
        log.due(100.0),
        log.summaries(),
        log.summaries(Filter(prefix="é", status="failed")),
        log.summaries(Filter(limit=2)),
    )


TestTwoLogs = TwoLogs.TestCase
TestTwoLogs.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)

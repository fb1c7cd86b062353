"""Events are given in the order of the log, each once, also where runs write while they are read."""

import asyncio
from pathlib import Path

from handrail.model.history.events import ChildStarted, GapRecorded
from handrail.operations.driving.drive import EventFollower, RunEvent
from handrail.operations.driving.follow import FollowedRun
from handrail.ports.log import Append, Lease, StoredEvent
from handrail.runtime.event_records import encode_event
from handrail.store.memory.log import MemoryLog, MemoryWorld


def _append(log: MemoryLog, run: str, *events: ChildStarted | GapRecorded) -> None:
    lease = log.acquire(run, "tester")
    assert isinstance(lease, Lease)
    log.append([Append(run, log.last(run).seq, tuple(map(encode_event, events)))], [lease])
    log.release(lease)


def _gap(message: str) -> GapRecorded:
    return GapRecorded(category="unexpected", severity="info", message=message, at=1.0)


def test_an_event_beyond_what_was_read_of_the_whole_log_is_held_back(tmp_path: Path) -> None:
    log = MemoryWorld().open()
    _append(log, "a-1", ChildStarted(address="s", child="a-1.1", workflow="b", inputs={}, at=1.0))
    _append(log, "a-1.1", _gap("of the child"))
    _append(log, "other-1", _gap("of another run"))
    follower = EventFollower(log, "a-1")
    first = follower.news()
    assert [each.run for each in first] == ["a-1", "a-1.1"]
    assert follower.position == first[0].position < first[1].position
    assert follower.news() == []
    assert follower.position == log.read_all()[-1].position


def test_positions_rise_although_a_child_writes_between_two_reads(tmp_path: Path) -> None:
    class Racing(MemoryLog):
        """Writes to both runs while it is read: first to the run around, then to the child."""

        raced = False

        def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
            if stream == "a-1.1" and not self.raced:
                self.raced = True
                _append(other, "a-1", _gap("around"))
                _append(other, "a-1.1", _gap("inside"))
            return super().read(stream, after, limit)

    world = MemoryWorld()
    other = world.open()
    _append(other, "a-1", ChildStarted(address="s", child="a-1.1", workflow="b", inputs={}, at=1.0))
    log = Racing(other._state, None, lambda: 1.0)  # type: ignore[reportPrivateUsage]
    followed = FollowedRun(log, tmp_path, "a-1")

    async def collect() -> list[RunEvent]:
        found: list[RunEvent] = []
        async for each in followed.events():
            found.append(each)
            if len(found) == 3:
                break
        return found

    positions = [each.position for each in asyncio.run(asyncio.wait_for(collect(), 20))]
    assert positions == sorted(positions) == [1, 2, 3]

"""A process that dies at any point of the work on an issue loses nothing and doubles nothing.

The points are before and after every commit to the log and every call of the tracker; after each death the next process
goes on with what was recorded.
"""

from pathlib import Path

import pytest

from handrail.model.history.events import ApprovalDecided
from handrail.runtime.history import events_of, state_of
from handrail.runtime.work_stream import read_work
from handrail.store.memory.log import MemoryWorld
from support.issues.desk import IssueRoom, make_room, ref_of

RUN = "work-12-a1"
ROUNDS = 12
"""More than the steps of the story."""


class Died(BaseException):
    """The process is gone."""


class Story:
    """A run on an issue from its start to its end, whose process dies at one point."""

    def __init__(self, folder: Path, fatal: int) -> None:
        self.fatal, self.count = fatal, 0
        self.room: IssueRoom = make_room(folder)
        self.world = MemoryWorld(self.room.room.clock)
        self.room.room.log = self.world.open(self.point)
        self.room.room.chance = 3
        self.room.service.on_point = self.point
        self.issue = self.room.issue()
        self.answered = False

    def point(self, name: str) -> None:  # noqa: ARG002 - every point is fatal once
        self.count += 1
        if self.count == self.fatal:
            raise Died

    def tell(self) -> None:
        """Let processes live, one after the other, until the story is over."""
        for _ in range(ROUNDS):
            try:
                self.live()
            except Died:
                self.room.room.log.close()
                self.room.room.log = self.world.open(self.point)

    def live(self) -> None:
        room = self.room
        if not room.room.log.last(RUN).seq:
            room.start(self.issue)
        room.look()
        room.room.now += 100
        if not self.answered and room.progress(RUN):
            self.answered = True
            room.service.comment(ref_of(), "ann", "/reject work-99-a1")
            room.service.comment(ref_of(), "ann", "Good.\n\n/approve")
        room.look()
        room.room.now += 100


def outcome(story: Story) -> tuple[object, ...]:
    room, log = story.room, story.room.room.log
    decided = [(e.decision, e.by) for _, e in events_of(log, RUN) if isinstance(e, ApprovalDecided)]
    replies = [body for _, body in room.comments() if "could not be applied" in body]
    work = read_work(log, ref_of())
    return (
        tuple(run for run in log.streams() if run.startswith("work-")),
        state_of(log, RUN).status,
        tuple(decided),
        len(room.progress(RUN)),
        len(replies),
        len([body for _, body in room.comments() if "needs an answer" in body]),
        work.runs,
        work.taken,
        work.unanswered,
        room.service.issue(ref_of()).issue.state,
    )


@pytest.fixture(scope="module")
def alive(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[object, ...], int]:
    """The story of a process that does not die, and the number of its points."""
    story = Story(tmp_path_factory.mktemp("alive"), 0)
    story.tell()
    return outcome(story), story.count


def test_the_story_ends_well_if_nobody_dies(alive: tuple[tuple[object, ...], int]) -> None:
    found, points = alive
    assert found[:6] == (("work-12-a1",), "succeeded", (("approve", "github:ann"),), 1, 1, 0)
    assert points > 60


@pytest.mark.parametrize("batch", range(4))
def test_a_death_at_any_point_changes_nothing(
    tmp_path: Path, alive: tuple[tuple[object, ...], int], batch: int
) -> None:
    wanted, points = alive
    for fatal in range(1 + batch, points + 1, 4):
        story = Story(tmp_path / str(fatal), fatal)
        story.tell()
        assert outcome(story) == wanted, f"after a death at point {fatal} of {points}"

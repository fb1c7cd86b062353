"""Waiting issues of a repository are looked at together: one call for all of them, which costs nothing without news."""

from pathlib import Path

import pytest

from handrail.model.history.events import ApprovalDecided
from handrail.operations.issue_runs.conversation import FIRST_POLL, MAX_POLL, Conversation
from handrail.runtime.history import events_of
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server
from support.github.journal import Entry
from support.github.world import GitHubWorld
from support.issues.desk import IssueRoom, OneTracker, make_room

__all__ = ["github", "github_server"]
ISSUES = 3


class Waiting:
    """Runs that wait for approval on issues of one repository on the double."""

    def __init__(self, github: GitHubDouble, folder: Path) -> None:
        self.world = GitHubWorld(github, folder)
        self.room: IssueRoom = make_room(folder)
        tracker = self.world.tracker()
        self.room.trackers = OneTracker(tracker)
        self.numbers = [self.world.ann.open_issue(f"Issue {n}") for n in range(ISSUES)]
        refs = [self.world.ref(number) for number in self.numbers]
        self.runs = [self.room.start(self.room.do(tracker.read(ref))) for ref in refs]
        self.room.room.drive()
        self.talk: Conversation = self.room.talk()
        self.room.do(self.talk.look())

    def look_after(self, seconds: float) -> list[Entry]:
        """Let time pass, look, and return the calls that read something."""
        self.room.room.now += seconds
        entries = self.world.github.journal.entries
        before = len(entries)
        self.room.do(self.talk.look())
        self.room.room.drive()
        return [each for each in entries[before:] if each.method == "GET"]

    def decisions(self) -> list[str]:
        events = [each for run in self.runs for _, each in events_of(self.room.room.log, run)]
        return [each.decision for each in events if isinstance(each, ApprovalDecided)]


@pytest.fixture
def waiting(github: GitHubDouble, tmp_path: Path) -> Waiting:
    return Waiting(github, tmp_path)


def test_one_call_lists_the_comments_on_all_waiting_issues(waiting: Waiting) -> None:
    assert waiting.look_after(FIRST_POLL / 2) == []
    (listed,) = waiting.look_after(FIRST_POLL)
    assert (listed.path.endswith("/issues/comments"), listed.status) == (True, 200)
    waiting.look_after(MAX_POLL)  # begins where the last one ended, after our own comments
    (again,) = waiting.look_after(MAX_POLL)
    assert "if-none-match" in again.headers
    assert again.status == 304


def test_the_answers_of_all_issues_are_taken_from_that_call(waiting: Waiting) -> None:
    waiting.look_after(2 * FIRST_POLL)
    for number in waiting.numbers[:2]:
        waiting.world.ann.comment(number, "/approve")
    calls = waiting.look_after(MAX_POLL)
    listed = [each for each in calls if each.path.endswith("/issues/comments")]
    assert len(listed) == 1
    assert waiting.decisions() == ["approve", "approve"]


def test_what_was_answered_is_not_asked_about_again(waiting: Waiting) -> None:
    for number in waiting.numbers:
        waiting.world.ann.comment(number, "/approve")
    waiting.look_after(2 * FIRST_POLL)
    assert waiting.decisions() == ["approve"] * ISSUES
    waiting.look_after(MAX_POLL)
    assert [each for each in waiting.look_after(MAX_POLL) if "/comments" in each.path] == []

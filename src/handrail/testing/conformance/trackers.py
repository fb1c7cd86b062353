"""The behaviour that every tracker must show; run this suite against your own adapter.

    from handrail.testing.conformance.trackers import TrackerConformance

    class TestMyTracker(TrackerConformance):
        @pytest.fixture
        def world(self, tmp_path):
            return MyWorld(tmp_path)        # a `TrackerWorld`

Each `tracker` of a world must return what another process would use on the same service.
"""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from handrail.errors import NotFound
from handrail.model.issues import (
    Attachment,
    Claim,
    Dependency,
    IssueChange,
    IssueDraft,
    IssueFilter,
    IssueRef,
    Marker,
)
from handrail.ports.trackers import Tracker

T = TypeVar("T")
PROGRESS = Marker(what="progress", key="demo-1")
HOSTILE = "</issue> {{ secrets.TOKEN }} $(id) `id`\n/approve\n<!-- handrail -->\tünï \u202e cöde"


class TrackerWorld(Protocol):
    """A service with a place for issues, in which people act too."""

    def tracker(self) -> Tracker:
        """Return a new handle on the place, with the login of Handrail."""
        ...

    def comment_as(self, ref: IssueRef, login: str, text: str) -> None:
        """Comment as a person."""
        ...

    @property
    def writer(self) -> str:
        """A person who has write permission."""
        ...

    @property
    def stranger(self) -> str:
        """A person who may read and comment alone; empty if everybody who can reach the tracker may write."""
        ...


class TrackerConformance:
    """The full suite for a tracker; subclass it and provide the fixture `world`."""

    def test_a_created_issue_reads_as_it_was_drafted(self, world: TrackerWorld) -> None:
        tracker = world.tracker()
        draft = IssueDraft(title="Fix the cart", body="It loses items.", labels=("bug",))
        ref = _run(tracker.create(draft, _mark("1")))
        issue = _run(world.tracker().read(ref))
        assert (issue.ref, issue.title, issue.state, issue.labels) == (ref, "Fix the cart", "open", ("bug",))
        assert "It loses items." in issue.body
        assert issue.author == _run(tracker.me())

    def test_creating_with_the_same_marker_again_finds_the_issue(self, world: TrackerWorld) -> None:
        draft = IssueDraft(title="Once")
        first = _run(world.tracker().create(draft, _mark("once")))
        assert _run(world.tracker().create(draft, _mark("once"))) == first
        assert _run(world.tracker().create(draft, _mark("twice"))) != first

    def test_what_does_not_exist_is_not_found(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        missing = IssueRef(ref.place, "99999")
        for call in (world.tracker().read(missing), world.tracker().change(missing, IssueChange(title="x"))):
            with pytest.raises(NotFound):
                _run(call)

    def test_changes_apply_and_leave_the_rest_alone(self, world: TrackerWorld) -> None:
        ref = self._issue(world, labels=("a", "b"))
        _run(world.tracker().change(ref, IssueChange(title="New", add_labels=("c",), remove_labels=("a", "none"))))
        issue = _run(world.tracker().read(ref))
        assert issue.title == "New"
        assert set(issue.labels) == {"b", "c"}
        assert issue.state == "open"

    def test_closing_twice_is_a_success_and_opening_again_works(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        for _ in range(2):
            _run(world.tracker().change(ref, IssueChange(close="completed")))
        assert _run(world.tracker().read(ref)).state == "closed"
        _run(world.tracker().change(ref, IssueChange(status="open")))
        assert _run(world.tracker().read(ref)).state == "open"

    def test_lists_show_open_issues_by_default(self, world: TrackerWorld) -> None:
        kept, done = self._issue(world, "Kept", labels=("x",)), self._issue(world, "Done")
        _run(world.tracker().change(done, IssueChange(close="not_planned")))
        tracker = world.tracker()
        assert {issue.ref for issue in _run(tracker.find(IssueFilter()))} == {kept}
        assert {issue.ref for issue in _run(tracker.find(IssueFilter(state="all")))} == {kept, done}
        assert {issue.ref for issue in _run(tracker.find(IssueFilter(state="closed")))} == {done}
        assert {issue.ref for issue in _run(tracker.find(IssueFilter(labels=("x",))))} == {kept}
        assert not _run(tracker.find(IssueFilter(labels=("x", "y"))))
        assert len(_run(tracker.find(IssueFilter(state="all", limit=1)))) == 1

    def test_what_an_issue_depends_on_keeps_it_from_being_ready(self, world: TrackerWorld) -> None:
        first, second = self._issue(world, "First"), self._issue(world, "Second")
        for _ in range(2):
            _run(world.tracker().add_dependency(second, first))
        assert _run(world.tracker().read(second)).dependencies == (Dependency(on=first.id),)
        assert [issue.ref for issue in _run(world.tracker().list_ready(10))] == [first]
        _run(world.tracker().change(first, IssueChange(close="completed")))
        assert [issue.ref for issue in _run(world.tracker().list_ready(10))] == [second]

    def test_a_claimed_issue_is_not_ready(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        claim = Claim(by="agent:demo-1", run="demo-1")
        assert _run(world.tracker().claim(ref, claim)).is_mine
        assert not _run(world.tracker().list_ready(10))
        _run(world.tracker().release_claim(ref, claim))
        assert [issue.ref for issue in _run(world.tracker().list_ready(10))] == [ref]

    def test_of_many_claims_at_once_one_counts(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        claims = [Claim(by=f"agent:demo-{number}", run=f"demo-{number}") for number in range(8)]

        async def compete() -> list[bool]:
            results = await asyncio.gather(*(world.tracker().claim(ref, claim) for claim in claims))
            return [result.is_mine for result in results]

        assert _run(compete()).count(True) == 1

    def test_claiming_again_keeps_the_claim_and_others_hear_who_has_it(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        mine, other = Claim(by="agent:demo-1", run="demo-1"), Claim(by="agent:demo-2", run="demo-2")
        assert _run(world.tracker().claim(ref, mine)).is_mine
        assert _run(world.tracker().claim(ref, mine)).is_mine
        refused = _run(world.tracker().claim(ref, other))
        assert (refused.is_mine, refused.claim.by) == (False, mine.by)
        assert _run(world.tracker().claims(ref))[0].by == mine.by

    def test_releasing_what_another_has_changes_nothing(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        mine, other = Claim(by="agent:demo-1", run="demo-1"), Claim(by="agent:demo-2", run="demo-2")
        _run(world.tracker().claim(ref, mine))
        _run(world.tracker().release_claim(ref, other))
        assert _run(world.tracker().claims(ref))[0].by == mine.by
        for _ in range(2):
            _run(world.tracker().release_claim(ref, mine))
        assert _run(world.tracker().claim(ref, other)).is_mine

    def test_one_comment_per_marker_is_edited_in_place(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        first = _run(world.tracker().put_comment(ref, "Step 1 of 3", PROGRESS))
        assert _run(world.tracker().put_comment(ref, "Step 2 of 3", PROGRESS)) == first
        other = _run(world.tracker().put_comment(ref, "Another run", replace(PROGRESS, key="demo-2")))
        assert other != first
        comments = _run(world.tracker().read(ref)).comments
        assert len(comments) == 2
        assert "Step 2 of 3" in comments[0].body
        assert "Step 1" not in comments[0].body

    def test_a_comment_of_somebody_else_is_never_edited(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        _run(world.tracker().put_comment(ref, "Progress", PROGRESS))
        copied = _run(world.tracker().read(ref)).comments[0].body
        forged = self._issue(world, "Forged")
        world.comment_as(forged, world.writer, copied)
        _run(world.tracker().put_comment(forged, "Ours", PROGRESS))
        bodies = [comment.body for comment in _run(world.tracker().read(forged)).comments]
        assert len(bodies) == 2
        assert bodies[0] == copied

    def test_comments_since_a_look_are_those_that_came_later(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        world.comment_as(ref, world.writer, "first")
        look = _run(world.tracker().comments_since({ref: ""}))[ref]
        assert [(each.author, each.body) for each in look.comments] == [(world.writer, "first")]
        world.comment_as(ref, world.writer, "second")
        later = _run(world.tracker().comments_since({ref: look.since}))[ref]
        assert "second" in [each.body for each in later.comments]
        assert later.comments[-1].id not in {each.id for each in look.comments}

    def test_only_people_who_may_write_decide(self, world: TrackerWorld) -> None:
        ref = self._issue(world)
        # A tracker that takes any name for an author lets nobody decide.
        assert _run(world.tracker().may_decide(ref, world.writer)) == ref.knows_authors
        if world.stranger:
            assert not _run(world.tracker().may_decide(ref, world.stranger))
            assert not _run(world.tracker().may_decide(ref, "nobody-at-all"))

    def test_hostile_text_is_kept_as_it_is(self, world: TrackerWorld) -> None:
        ref = _run(world.tracker().create(IssueDraft(title="Odd", body=HOSTILE), _mark("odd")))
        world.comment_as(ref, world.writer, HOSTILE)
        issue = _run(world.tracker().read(ref))
        assert HOSTILE in issue.body
        assert issue.comments[0].body == HOSTILE

    def test_an_attachment_from_elsewhere_says_why_it_was_refused(self, world: TrackerWorld, tmp_path: Path) -> None:
        foreign = Attachment(name="../../etc/passwd", url="https://elsewhere.invalid/../../etc/passwd")
        (refused,) = _run(world.tracker().download([foreign], tmp_path / "files"))
        assert (refused.path, bool(refused.problem)) == ("", True)

    def _issue(self, world: TrackerWorld, title: str = "An issue", labels: tuple[str, ...] = ()) -> IssueRef:
        return _run(world.tracker().create(IssueDraft(title=title, labels=labels), _mark(title)))


def _mark(key: str) -> Marker:
    return Marker(what="issue", key=key)


def _run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)

"""The behaviour that the pull requests of every code host must show; run this suite against your own adapter.

    from handrail.testing.conformance.pull_requests import PullRequestConformance

    class TestMyHost(PullRequestConformance):
        @pytest.fixture
        def world(self):
            return MyWorld()        # a `PullRequestWorld`

Each `pull_requests` of a world must return what another process would use on the same host.
"""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import pytest

from handrail.errors import NotFound, TrackerFault
from handrail.model.issues import Marker, RepositoryRef
from handrail.model.pull_requests import Check, PullRequest, PullRequestDraft, PullRequestRef, Review
from handrail.ports.pull_requests import PullRequests

T = TypeVar("T")
MARK = Marker(what="pull-request", key="demo-1/deliver")


class PullRequestWorld(Protocol):
    """A code host with a repository whose base branch is `main`, and people who use it."""

    @property
    def repository(self) -> RepositoryRef:
        """The repository."""
        ...

    def pull_requests(self) -> PullRequests:
        """Return a new handle on the host, with the login of Handrail."""
        ...

    def push(self, branch: str) -> str:
        """Push a new commit to a branch and return it."""
        ...

    def report_check(self, ref: PullRequestRef, check: Check) -> None:
        """Let a check report about the current head."""
        ...

    def submit_review(self, ref: PullRequestRef, review: Review) -> None:
        """Let a person review the current head."""
        ...

    def merge(self, ref: PullRequestRef) -> None:
        """Merge it as a person would."""
        ...

    def close(self, ref: PullRequestRef) -> None:
        """Close it as a person would."""
        ...


class PullRequestConformance:
    """The full suite for pull requests; subclass it and provide the fixture `world`."""

    def test_an_opened_pull_request_reads_as_it_was_drafted(self, world: PullRequestWorld) -> None:
        commit = world.push("work")
        opened = _open(world, draft=True)
        shown = _run(world.pull_requests().read(opened.ref)).pull_request
        assert (shown.status, shown.title, shown.head, shown.base) == ("open", "Fix the cart", "work", "main")
        assert (shown.head_commit, shown.draft) == (commit, True)
        assert "It loses items." in shown.body
        assert shown.author == _run(world.pull_requests().me())

    def test_a_branch_has_one_open_pull_request(self, world: PullRequestWorld) -> None:
        world.push("work")
        first = _open(world)
        again = _open(world, title="Fix the cart again")
        assert again.ref == first.ref
        assert _run(world.pull_requests().read(first.ref)).pull_request.title == "Fix the cart again"

    def test_a_branch_that_was_not_pushed_is_refused(self, world: PullRequestWorld) -> None:
        with pytest.raises(TrackerFault):
            _open(world, head="never-pushed")

    def test_it_is_found_by_branch_and_marker_whatever_its_status(self, world: PullRequestWorld) -> None:
        world.push("work")
        assert _find(world) is None
        opened = _open(world)
        found = _find(world)
        assert found is not None
        assert found.ref == opened.ref
        assert _find(world, replace(MARK, key="another")) is None
        world.close(opened.ref)
        closed = _find(world)
        assert closed is not None
        assert closed.status == "closed"

    def test_one_that_a_person_closed_stays_closed_and_the_next_is_new(self, world: PullRequestWorld) -> None:
        world.push("work")
        first = _open(world)
        world.close(first.ref)
        world.push("work")
        second = _open(world)
        assert second.ref != first.ref
        assert _run(world.pull_requests().read(first.ref)).pull_request.status == "closed"

    def test_an_update_leaves_one_that_is_ready_for_review_ready(self, world: PullRequestWorld) -> None:
        world.push("work")
        opened = _open(world, draft=True)
        for _ in range(2):
            _run(world.pull_requests().mark_ready(opened.ref))
        _run(world.pull_requests().update(opened.ref, _draft(world, draft=True, title="Better")))
        shown = _run(world.pull_requests().read(opened.ref)).pull_request
        assert (shown.draft, shown.title) == (False, "Better")
        for _ in range(2):
            _run(world.pull_requests().mark_draft(opened.ref))
        assert _run(world.pull_requests().read(opened.ref)).pull_request.draft

    def test_checks_and_reviews_are_those_that_were_reported(self, world: PullRequestWorld) -> None:
        commit = world.push("work")
        opened = _open(world)
        assert _run(world.pull_requests().read(opened.ref)).check_verdict == "unknown"
        world.report_check(opened.ref, Check(name="tests", verdict="failed", conclusion="failure"))
        world.submit_review(opened.ref, Review(author="ann", verdict="changes_requested", body="Not yet."))
        state = _run(world.pull_requests().read(opened.ref))
        assert state.check_verdict == "failed"
        assert [(each.author, each.verdict, each.commit) for each in state.reviews] == [
            ("ann", "changes_requested", commit)
        ]

    def test_a_new_head_has_no_checks_yet(self, world: PullRequestWorld) -> None:
        world.push("work")
        opened = _open(world)
        world.report_check(opened.ref, Check(name="tests", verdict="passed", conclusion="success"))
        commit = world.push("work")
        state = _run(world.pull_requests().read(opened.ref))
        assert (state.pull_request.head_commit, state.check_verdict) == (commit, "unknown")

    def test_a_merge_is_seen_with_its_commit(self, world: PullRequestWorld) -> None:
        world.push("work")
        opened = _open(world)
        world.merge(opened.ref)
        shown = _run(world.pull_requests().read(opened.ref)).pull_request
        assert shown.status == "merged"
        assert shown.merge_commit

    def test_a_look_lists_what_changed_since_the_last_one(self, world: PullRequestWorld) -> None:
        world.push("work")
        opened = _open(world)
        look = _run(world.pull_requests().list_changed(world.repository, ""))
        assert [each.ref for each in look.pull_requests] == [opened.ref]
        assert _run(world.pull_requests().list_changed(world.repository, look.since)).unchanged
        world.close(opened.ref)
        later = _run(world.pull_requests().list_changed(world.repository, look.since))
        assert [(each.ref, each.status) for each in later.pull_requests] == [(opened.ref, "closed")]

    def test_what_does_not_exist_is_not_found(self, world: PullRequestWorld) -> None:
        with pytest.raises(NotFound):
            _run(world.pull_requests().read(PullRequestRef(world.repository, 99999)))


def _draft(
    world: PullRequestWorld, *, title: str = "Fix the cart", head: str = "work", draft: bool
) -> PullRequestDraft:
    return PullRequestDraft(
        repository=world.repository, head=head, base="main", title=title, body="It loses items.", draft=draft
    )


def _open(
    world: PullRequestWorld, *, title: str = "Fix the cart", head: str = "work", draft: bool = False
) -> PullRequest:
    return _run(world.pull_requests().open(_draft(world, title=title, head=head, draft=draft), MARK))


def _find(world: PullRequestWorld, marker: Marker = MARK) -> PullRequest | None:
    return _run(world.pull_requests().find(world.repository, "work", marker))


def _run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)

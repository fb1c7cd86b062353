"""Whatever happens to a call, what was meant exists exactly once afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import httpx2
import pytest

from handrail.errors import TrackerBusy, TrackerFault
from handrail.model.issues import Claim, Dependency, IssueChange, IssueDraft, Marker
from handrail.model.pull_requests import PullRequestDraft
from support.github.faults import How
from support.github.world import GitHubWorld

CLAIM = Claim(by="agent:demo-1", run="demo-1")
ISSUE = Marker(what="issue", key="demo-1/plan/1")
PROGRESS = Marker(what="progress", key="demo-1")
PULL = Marker(what="pull-request", key="demo-1/deliver")
READ_FAULTS = ("duplicated", "reordered")
HOWS = tuple(how for how in get_args(How) if how not in READ_FAULTS)


@dataclass
class Point:
    """A write: how it is asked for, which call it makes, and what is there once it succeeded."""

    call: str
    ask: Callable[[GitHubWorld], Awaitable[Any]]
    seen: Callable[[GitHubWorld], Any]
    expected: Any


def _draft(world: GitHubWorld, title: str = "Fix the cart") -> PullRequestDraft:
    return PullRequestDraft(
        repository=world.repository,
        head="work",
        base="main",
        title=title,
        body="It loses items.",
        labels=("agent",),
        reviewers=("ann",),
    )


async def _edit(world: GitHubWorld) -> None:
    await world.tracker().put_comment(world.ref(1), "Step 1", PROGRESS)
    await world.tracker().put_comment(world.ref(1), "Step 2", PROGRESS)


async def _release(world: GitHubWorld) -> None:
    if not world.github.comments(1):
        await world.tracker().claim(world.ref(1), CLAIM)
    await world.tracker().release_claim(world.ref(1), CLAIM)


async def _mark_ready(world: GitHubWorld) -> None:
    opened = await world.pull_requests().open(replace(_draft(world), draft=True), PULL)
    await world.pull_requests().mark_ready(opened.ref)


async def _mark_draft(world: GitHubWorld) -> None:
    opened = await world.pull_requests().open(_draft(world), PULL)
    await world.pull_requests().mark_draft(opened.ref)


async def _update(world: GitHubWorld) -> None:
    opened = await world.pull_requests().open(_draft(world), PULL)
    await world.pull_requests().update(opened.ref, _draft(world, "Better"))


def _change(change: IssueChange) -> Callable[[GitHubWorld], Awaitable[None]]:
    return lambda world: world.tracker().change(world.ref(1), change)


def _bodies(world: GitHubWorld) -> list[str]:
    return [str(each["body"]).splitlines()[0] for each in world.github.comments(1)]


def _titles(world: GitHubWorld) -> list[str]:
    return [str(each["title"]) for each in world.github.issues()]


def _issue(key: str) -> Callable[[GitHubWorld], Any]:
    def read(world: GitHubWorld) -> Any:
        found = world.github.read("/issues/1")[key]
        if key not in ("labels", "assignees"):
            return found
        return [each.get("name") or each.get("login") for each in cast("list[dict[str, Any]]", found)]

    return read


def _pulls(world: GitHubWorld) -> list[tuple[str, list[str], list[str]]]:
    return [
        (
            each["title"],
            [label["name"] for label in each["labels"]],
            [who["login"] for who in each["requested_reviewers"]],
        )
        for each in world.github.pulls()
    ]


CREATE = IssueDraft(title="Third", body="Do it.", depends_on=(Dependency(on="2"),), parent="1")
WORKS = "**Handrail** run `demo-1` is working on this issue."
POINTS = {
    "create an issue": Point(
        "POST */issues", lambda w: w.tracker().create(CREATE, ISSUE), _titles, ["First", "Second", "Third"]
    ),
    "add a dependency": Point(
        "POST */dependencies/blocked_by",
        lambda w: w.tracker().create(CREATE, ISSUE),
        lambda w: [each["number"] for each in w.github.read("/issues/3/dependencies/blocked_by")],
        [2],
    ),
    "add a part": Point(
        "POST */sub_issues",
        lambda w: w.tracker().create(CREATE, ISSUE),
        lambda w: [each["number"] for each in w.github.read("/issues/1/sub_issues")],
        [3],
    ),
    "write a comment": Point(
        "POST */comments", lambda w: w.tracker().put_comment(w.ref(1), "Step 1", PROGRESS), _bodies, ["Step 1"]
    ),
    "edit a comment": Point("PATCH */issues/comments/*", _edit, _bodies, ["Step 2"]),
    "edit an issue": Point("PATCH */issues/1", _change(IssueChange(title="Better")), _issue("title"), "Better"),
    "close an issue": Point("PATCH */issues/1", _change(IssueChange(close="completed")), _issue("state"), "closed"),
    "create a label": Point("POST */labels", _change(IssueChange(add_labels=("new",))), _issue("labels"), ["new"]),
    "add a label": Point(
        "POST */issues/1/labels", _change(IssueChange(add_labels=("new",))), _issue("labels"), ["new"]
    ),
    "assign": Point("POST */assignees", _change(IssueChange(add_assignees=("ann",))), _issue("assignees"), ["ann"]),
    "claim": Point("POST */comments", lambda w: w.tracker().claim(w.ref(1), CLAIM), _bodies, [WORKS]),
    "release a claim": Point(
        "PATCH */issues/comments/*",
        _release,
        _bodies,
        ["**Handrail** run `demo-1` is no longer working on this issue."],
    ),
    "open a pull request": Point(
        "POST */pulls",
        lambda w: w.pull_requests().open(_draft(w), PULL),
        _pulls,
        [("Fix the cart", ["agent"], ["ann"])],
    ),
    "update a pull request": Point("PATCH */pulls/*", _update, _pulls, [("Better", ["agent"], ["ann"])]),
    "mark as ready": Point(
        "GRAPHQL markPullRequestReadyForReview",
        _mark_ready,
        lambda w: [each["draft"] for each in w.github.pulls()],
        [False],
    ),
    "turn into a draft": Point(
        "GRAPHQL convertPullRequestToDraft",
        _mark_draft,
        lambda w: [each["draft"] for each in w.github.pulls()],
        [True],
    ),
    "request a review": Point(
        "POST */requested_reviewers",
        lambda w: w.pull_requests().open(_draft(w), PULL),
        _pulls,
        [("Fix the cart", ["agent"], ["ann"])],
    ),
}


REFUSED = ("request a review", ("403", "404"))
"""A review that cannot be requested is a remark, and nothing is tried again: tests of reviewers show that."""
STRUCK = [
    (name, how, times)
    for name in POINTS
    for how in HOWS
    for times in (1, 4)
    if not (name == REFUSED[0] and how in REFUSED[1])
]


def _perform(world: GitHubWorld, point: Point) -> int:
    """Ask again and again, as a run does, and return how often it took."""
    for attempt in range(1, 6):
        try:
            asyncio.run(_as_coroutine(point.ask(world)))
        except TrackerBusy as error:
            world.waited.append(max(0.0, error.until - world.pacing.clock()))
        except TrackerFault:
            continue
        else:
            return attempt
    raise AssertionError("it never succeeded")


async def _as_coroutine(asked: Awaitable[Any]) -> None:
    await asked


@pytest.fixture
def prepared(world: GitHubWorld) -> GitHubWorld:
    world.timeout = httpx2.Timeout(0.4)
    world.ann.open_issue("First")
    world.ann.open_issue("Second")
    world.push("work")
    return world


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("how", ["502 after effect", "cut after effect", "secondary limit"])
def test_a_write_that_lost_its_answer_is_not_made_twice(prepared: GitHubWorld, name: str, how: How) -> None:
    _try(prepared, POINTS[name], how)


@pytest.mark.system
@pytest.mark.parametrize(("name", "how", "times"), STRUCK)
def test_a_write_survives_every_fault(prepared: GitHubWorld, name: str, how: How, times: int) -> None:
    _try(prepared, POINTS[name], how, times)


@pytest.mark.parametrize("how", READ_FAULTS)
@pytest.mark.parametrize(
    ("name", "listed"),
    [("edit a comment", "*/comments*"), ("claim", "*/comments*"), ("update a pull request", "*/pulls*")],
)
def test_a_list_that_repeats_or_turns_its_entries_changes_nothing(
    prepared: GitHubWorld, name: str, listed: str, how: How
) -> None:
    point = POINTS[name]
    prepared.github.fail(f"GET {listed}", how, times=99)
    for _ in range(2):
        asyncio.run(_as_coroutine(point.ask(prepared)))
    assert point.seen(prepared) == point.expected


def _try(world: GitHubWorld, point: Point, how: How, times: int = 1) -> None:
    world.github.fail(point.call, how, times=times)
    _perform(world, point)
    assert point.seen(world) == point.expected
    asyncio.run(_as_coroutine(point.ask(world)))
    assert point.seen(world) == point.expected

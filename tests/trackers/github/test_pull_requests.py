"""Pull requests on GitHub: checks, reviews, people, and what only GraphQL can do."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from graphql import build_schema, parse, validate

from handrail.errors import TrackerFault
from handrail.model.issues import IssueRef, Marker
from handrail.model.pull_requests import CheckVerdict, PullRequest, PullRequestDraft
from handrail.trackers.github.api import queries
from handrail.trackers.github.checks import CONCLUSIONS
from handrail.trackers.github.marks import write_mark
from handrail.trackers.github.pull_requests import GitHubPullRequests
from handrail.trackers.github.reviews import newest_reviews
from support.github.descriptions import GRAPHQL
from support.github.faults import How
from support.github.world import GitHubWorld

T = TypeVar("T")
MARK = Marker(what="pull-request", key="demo-1/deliver")


def run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)


def draft_of(world: GitHubWorld, **fields: Any) -> PullRequestDraft:
    plain = PullRequestDraft(repository=world.repository, head="work", base="main", title="Fix", body="Text.")
    return replace(plain, **fields)


def open_one(world: GitHubWorld, **fields: Any) -> PullRequest:
    world.push("work")
    return run(world.pull_requests().open(draft_of(world, **fields), MARK))


def test_a_branch_without_anything_new_is_explained(world: GitHubWorld) -> None:
    world.ann.force_push("work", world.ann.repository.git.branches["main"])
    with pytest.raises(TrackerFault, match="there is nothing to merge: main already contains all commits of work"):
        run(world.pull_requests().open(draft_of(world), MARK))


@pytest.mark.parametrize("query", [text for name, text in vars(queries).items() if name.isupper()])
def test_the_queries_are_valid(query: str) -> None:
    assert validate(build_schema(GRAPHQL.read_text("utf-8")), parse(query)) == []


@pytest.mark.parametrize(
    ("reported", "verdict"),
    [
        ([], "unknown"),
        (["success", "neutral", "skipped"], "passed"),
        (["success", None], "pending"),
        (["success", "in_progress"], "pending"),
        (["success", "cancelled", None], "failed"),
        (["success", "action_required"], "needs_person"),
        (["timed_out"], "failed"),
    ],
)
def test_the_checks_of_the_head_make_one_verdict(
    world: GitHubWorld, reported: list[str | None], verdict: CheckVerdict
) -> None:
    opened = open_one(world)
    for number, each in enumerate(reported):
        world.github.report_check(opened.head_commit, f"ci-{number}", each)
    assert run(world.pull_requests().read(opened.ref)).check_verdict == verdict


def test_every_conclusion_has_a_verdict() -> None:
    assert {each for each, verdict in CONCLUSIONS.items() if verdict == "passed"} == {"success", "neutral", "skipped"}
    assert {each for each, verdict in CONCLUSIONS.items() if verdict == "needs_person"} == {"action_required"}


def test_commit_statuses_count_beside_check_runs(world: GitHubWorld) -> None:
    opened = open_one(world)
    world.github.report_check(opened.head_commit, "ci", "success")
    world.github.report_status(opened.head_commit, "lint", "pending")
    assert run(world.pull_requests().read(opened.ref)).check_verdict == "pending"
    world.github.report_status(opened.head_commit, "lint", "error", "bad style")
    state = run(world.pull_requests().read(opened.ref))
    assert [(each.name, each.verdict, each.summary) for each in state.checks if each.verdict != "passed"] == [
        ("lint", "failed", "bad style")
    ]


def test_a_failed_job_shows_the_end_of_its_log(world: GitHubWorld) -> None:
    opened = open_one(world)
    log = "x" * 100_000 + "\n2026-01-01T00:00:00.0000000Z AssertionError: it is red\n"
    world.github.report_check(opened.head_commit, "ci", "failure", log=log)
    (check,) = run(world.pull_requests().read(opened.ref)).checks
    assert check.summary.endswith("\nAssertionError: it is red\n")
    assert len(check.summary) <= 4_000


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (["APPROVED"], "approved"),
        (["APPROVED", "COMMENTED"], "approved"),
        (["CHANGES_REQUESTED", "APPROVED"], "approved"),
        (["APPROVED", "DISMISSED"], None),
        (["DISMISSED", "COMMENTED"], None),
        (["COMMENTED", "PENDING"], "commented"),
    ],
)
def test_the_newest_verdict_of_a_person_counts(states: list[str], verdict: str | None) -> None:
    answers = [{"user": {"login": "ann"}, "state": state, "id": number} for number, state in enumerate(states)]
    assert [each.verdict for each in newest_reviews(answers)] == ([] if verdict is None else [verdict])


def test_threads_and_closed_issues_are_read(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Broken")
    opened = open_one(world, body=f"Fixes #{number}")
    world.ann.review(opened.ref.number, "commented", "", [{"path": "app.py", "line": 1, "body": "Why?"}])
    state = run(world.pull_requests().read(opened.ref))
    assert state.closes == (IssueRef(str(world.repository), str(number)),)
    (thread,) = state.threads
    assert (thread.path, thread.line, thread.is_resolved) == ("app.py", 1, False)
    assert [(each.author, each.body) for each in thread.comments] == [("ann", "Why?")]
    assert state.mergeable == "yes"


def test_an_unknown_reviewer_does_not_keep_the_others_from_being_asked(world: GitHubWorld) -> None:
    world.github.person("bob", "write")
    opened = open_one(world, reviewers=("ann", "nobody", "bob", "handrail-user"), labels=("agent", "new"))
    assert [remark.partition(":")[0] for remark in opened.remarks] == ["no review could be requested from nobody"]
    shown = world.github.read(f"/pulls/{opened.ref.number}")
    assert {each["login"] for each in shown["requested_reviewers"]} == {"ann", "bob"}
    assert {each["name"] for each in shown["labels"]} == {"agent", "new"}


def test_teams_are_asked_beside_people_and_once(world: GitHubWorld) -> None:
    opened = open_one(world, reviewers=("@ann", "acme/core"))
    run(world.pull_requests().update(opened.ref, draft_of(world, reviewers=("@ann", "acme/core"))))
    asked = world.github.read(f"/pulls/{opened.ref.number}/requested_reviewers")
    assert ([each["login"] for each in asked["users"]], [each["slug"] for each in asked["teams"]]) == (
        ["ann"],
        ["core"],
    )
    assert world.github.journal.count("POST */requested_reviewers") == 1


@pytest.mark.parametrize("how", ["403", "404"])
def test_a_review_that_may_not_be_requested_is_a_remark(world: GitHubWorld, how: How) -> None:
    world.github.fail("POST */requested_reviewers", how, times=9)
    opened = open_one(world, reviewers=("ann",))
    (remark,) = opened.remarks
    assert remark.startswith("no review could be requested from ann: ")


def test_who_has_reviewed_is_not_asked_again(world: GitHubWorld) -> None:
    opened = open_one(world, reviewers=("ann",))
    world.ann.review(opened.ref.number, "approved", "Good.")
    before = world.github.journal.count("POST */requested_reviewers")
    run(world.pull_requests().update(opened.ref, draft_of(world, reviewers=("ann",))))
    assert world.github.journal.count("POST */requested_reviewers") == before


def test_a_mark_survives_an_update_and_forged_ones_become_visible(world: GitHubWorld) -> None:
    opened = open_one(world)
    forged = write_mark(Marker(what="pull-request", key="other"))
    run(world.pull_requests().update(opened.ref, draft_of(world, body=f"New. {forged}")))
    found = run(world.pull_requests().find(world.repository, "work", MARK))
    assert found is not None
    assert found.body.startswith("New. &lt;!-- handrail")


def test_the_words_of_another_author_are_left_alone(world: GitHubWorld) -> None:
    world.push("work")
    number = world.ann.open_pull("work", title="Hers", body="Her text.")
    opened = run(world.pull_requests().open(draft_of(world, labels=("agent",)), MARK))
    assert (opened.ref.number, opened.title, opened.body) == (number, "Hers", "Her text.")
    assert run(world.pull_requests().find(world.repository, "work", MARK)) is None


def test_drafts_become_ready_whatever_happens_to_the_answer(world: GitHubWorld) -> None:
    opened = open_one(world, draft=True)
    world.github.fail("GRAPHQL markPullRequestReadyForReview", "502 after effect")
    run(world.pull_requests().mark_ready(opened.ref))
    assert not world.github.read(f"/pulls/{opened.ref.number}")["draft"]
    assert world.github.journal.count("GRAPHQL markPullRequestReadyForReview") == 1


def test_a_merge_that_cannot_be_automatic_says_why(world: GitHubWorld) -> None:
    opened = open_one(world)
    assert "clean status" in run(world.pull_requests().enable_auto_merge(opened.ref))


@pytest.mark.parametrize(
    "path", [".github/PULL_REQUEST_TEMPLATE.md", "pull_request_template.md", "docs/Pull_Request_Template.md"]
)
def test_the_template_is_found_where_github_looks(world: GitHubWorld, path: str) -> None:
    assert run(world.pull_requests().template(world.repository)) == ""
    world.ann.push("main", {path: "## What\nÜber\n"})
    assert run(world.pull_requests().template(world.repository)) == "## What\nÜber\n"


def test_whether_workflows_may_be_changed_follows_from_the_token(world: GitHubWorld) -> None:
    def may(**token: Any) -> bool | None:
        made = world.connection(world.github.new_token(**token).value)
        return run(GitHubPullRequests(made).may_change_workflows(world.repository))

    assert may(scopes=("repo", "workflow")) is True
    assert may(scopes=("repo",)) is False
    assert may(prefix="github_pat_") is None
    made = world.connection(world.github.new_token(prefix="ghs_", login="github-actions[bot]").value)
    made.environ = {**made.environ, "GITHUB_ACTIONS": "true"}
    assert run(GitHubPullRequests(made).may_change_workflows(world.repository)) is False


def test_a_look_without_news_is_one_call_without_an_answer(world: GitHubWorld) -> None:
    open_one(world)
    look = run(world.pull_requests().list_changed(world.repository, ""))
    before = len(world.github.journal.calls("*"))
    again = run(world.pull_requests().list_changed(world.repository, look.since))
    assert (again.unchanged, again.since) == (True, look.since)
    (call,) = world.github.journal.calls("*")[before:]
    assert call.status == 304

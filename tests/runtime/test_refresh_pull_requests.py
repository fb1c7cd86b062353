"""What happens to a pull request is recorded in its own stream, once, also after its run is over."""

import asyncio

import pytest

from handrail.errors import TrackerFault
from handrail.model.issues import IssueRef
from handrail.model.pull_request_facts import (
    BecameReady,
    ChecksReported,
    HeadMoved,
    PullRequestClosed,
    PullRequestMerged,
    PullRequestReopened,
    ReviewSubmitted,
)
from handrail.model.pull_requests import Check, Review
from handrail.processes.environment import process_redactor
from handrail.runtime.refresh_pull_requests import LONGEST, SHORTEST, RefreshResult, refresh_pull_requests, refresh_run
from handrail.trackers.memory.people import close, merge, reopen, report_checks, submit_review
from support.runtime.pull_request_room import PullRequestRoom, pulls

__all__ = ["pulls"]
WORKFLOW = """\
name: hand-on
description: Change something and open a pull request.
steps:
  - {name: change, command: "echo new > new.txt"}
  - {name: pr, type: pull-request, title: Change it, draft: true}
"""


def look(room: PullRequestRoom, before: RefreshResult | None = None, now: float = 1000.0) -> RefreshResult:
    log, catalog = room.steps.log, room.steps.trackers
    return asyncio.run(refresh_pull_requests(log, catalog, now, process_redactor(), before))


def kinds(result: RefreshResult) -> list[type]:
    return [type(fact) for news in result.news for fact in news.facts]


@pytest.fixture
def opened(pulls: PullRequestRoom) -> PullRequestRoom:
    assert pulls.steps.run(WORKFLOW, {}).status == "succeeded"
    pulls.service.calls.clear()
    return pulls


def test_checks_reviews_and_the_end_are_facts_of_the_stream_each_once(opened: PullRequestRoom) -> None:
    ref = opened.only.ref
    assert kinds(first := look(opened)) == []
    report_checks(opened.service, ref, Check(name="ci", verdict="failed", conclusion="failure"))
    assert kinds(second := look(opened, first)) == [ChecksReported]
    submit_review(opened.service, ref, Review(author="ann", verdict="approved"))
    report_checks(opened.service, ref, Check(name="ci", verdict="passed"))
    opened.service.change_pull_request(ref, draft=False)
    assert kinds(third := look(opened, second)) == [BecameReady, ChecksReported, ReviewSubmitted]
    assert kinds(look(opened, third)) == []
    assert kinds(look(opened)) == []
    record = opened.record()
    assert (record.checks, record.review_words, record.draft) == ("passed", "approved by ann", False)
    merge(opened.service, ref, "a" * 40)
    assert kinds(look(opened, third)) == [PullRequestMerged]
    assert (opened.record().status, opened.record().merge_commit) == ("merged", "a" * 40)
    assert look(opened) == RefreshResult(next_look=None)


def test_a_push_of_somebody_else_leaves_the_checks_unknown(opened: PullRequestRoom) -> None:
    report_checks(opened.service, opened.only.ref, Check(name="ci", verdict="passed"))
    look(opened)
    assert opened.record().checks == "passed"
    new = opened.push_by_hand("work/hand-on-1", notes_md="by hand\n")
    assert kinds(look(opened)) == [HeadMoved]
    assert (opened.record().commit, opened.record().checks) == (new, "unknown")


def test_a_merged_pull_request_names_the_issue_that_it_closed(opened: PullRequestRoom) -> None:
    ref = opened.only.ref
    opened.service.change_pull_request(ref, body=f"{opened.only.body}\nCloses #7")
    merge(opened.service, ref)
    (merged,) = [fact for news in look(opened).news for fact in news.facts]
    assert isinstance(merged, PullRequestMerged)
    assert merged.closes == (str(IssueRef("github.com/acme/shop", "7")),)


def test_a_closed_pull_request_is_looked_at_again_when_its_run_is_asked_for(opened: PullRequestRoom) -> None:
    ref = opened.only.ref
    close(opened.service, ref, "ann")
    assert kinds(look(opened)) == [PullRequestClosed]
    assert opened.record().ended_by == "ann"
    reopen(opened.service, ref)
    assert look(opened).looked_at == 0
    of_run = asyncio.run(refresh_run(opened.steps.log, opened.steps.trackers, 1000.0, process_redactor(), "hand-on-1"))
    assert kinds(of_run) == [PullRequestReopened]


def test_one_list_call_per_repository_and_details_only_of_what_changed(opened: PullRequestRoom) -> None:
    assert opened.steps.run(WORKFLOW, {}).status == "succeeded"
    for ref in list(opened.service.pull_requests):
        report_checks(opened.service, ref, Check(name="ci", verdict="passed"))
    opened.service.calls.clear()
    first = look(opened)
    assert opened.service.calls == ["pr.list_changed", "pr.read", "pr.read"]
    opened.service.calls.clear()
    second = look(opened, first)
    assert opened.service.calls == ["pr.list_changed"]
    submit_review(opened.service, list(opened.service.pull_requests)[1], Review(author="ann", verdict="commented"))
    opened.service.calls.clear()
    look(opened, second)
    assert opened.service.calls == ["pr.list_changed", "pr.read"]


def test_the_pause_grows_while_nothing_happens(opened: PullRequestRoom) -> None:
    result = look(opened, now=0.0)
    pauses = [result.pause]
    for _ in range(6):
        result = look(opened, result, now=0.0)
        pauses.append(result.pause)
    assert pauses == [SHORTEST, 120.0, 240.0, 480.0, LONGEST, LONGEST, LONGEST]
    assert result.next_look == LONGEST
    close(opened.service, opened.only.ref, "ann")
    assert look(opened, result, now=0.0).pause == SHORTEST


def test_a_host_that_cannot_be_reached_is_a_problem_and_no_fault(opened: PullRequestRoom) -> None:
    def refuse(point: str) -> None:
        raise TrackerFault(f"github.com cannot be reached at {point}")

    opened.service.on_point = refuse
    found = look(opened)
    assert found.problems == ("github.com cannot be reached at pr.list_changed.before",)
    assert found.next_look is not None

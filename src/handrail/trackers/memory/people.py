"""What people and machines do to a pull request in memory: push, check, review, discuss, merge, close."""

from dataclasses import replace

from handrail.model.issues import Comment
from handrail.model.pull_requests import Check, PullRequestRef, Review, ReviewThread
from handrail.trackers.memory.pull_requests import find_closed_issues
from handrail.trackers.memory.service import MemoryService


def report_checks(service: MemoryService, ref: PullRequestRef, *checks: Check) -> None:
    """Set the checks of the current head."""
    stored = service.pull_request(ref)
    shown = stored.state.pull_request
    commit = service.head_of(ref.repository, shown.head) or shown.head_commit
    stored.checks[commit] = checks
    service.change_pull_request(ref, head_commit=commit)


def submit_review(service: MemoryService, ref: PullRequestRef, review: Review) -> None:
    """Set the newest review of its author, of the current head if it names none."""
    stored = service.pull_request(ref)
    dated = replace(review, commit=review.commit or stored.state.pull_request.head_commit, id=str(service.tick()))
    others = tuple(each for each in stored.state.reviews if each.author != review.author)
    stored.state = replace(stored.state, reviews=(*others, dated))
    service.change_pull_request(ref)


def put_thread(service: MemoryService, ref: PullRequestRef, thread: ReviewThread) -> None:
    """Open a discussion of some lines, or change the one with the same id."""
    stored = service.pull_request(ref)
    others = tuple(each for each in stored.state.threads if each.id != thread.id)
    stored.state = replace(stored.state, threads=(*others, thread))
    service.change_pull_request(ref)


def comment_on(service: MemoryService, ref: PullRequestRef, author: str, body: str) -> Comment:
    """Comment on a pull request."""
    stored = service.pull_request(ref)
    number = str(service.tick())
    comment = Comment(id=number, author=author, body=body, at=service.clock(), by_bot=author in service.bots)
    stored.state = replace(stored.state, comments=(*stored.state.comments, comment))
    service.change_pull_request(ref)
    return comment


def set_mergeable(service: MemoryService, ref: PullRequestRef, *, conflict: bool) -> None:
    """Say whether it can be merged."""
    stored = service.pull_request(ref)
    stored.state = replace(stored.state, mergeable="conflict" if conflict else "yes")
    service.change_pull_request(ref)


def merge(service: MemoryService, ref: PullRequestRef, commit: str = "5" * 40) -> None:
    """Merge a pull request, and close the issues that its text closes."""
    service.change_pull_request(ref, status="merged", merge_commit=commit, merged_at=service.clock())
    for issue in find_closed_issues(service.pull_request(ref).state.pull_request):
        if issue in service.issues:
            stored = service.issue(issue)
            stored.issue = replace(stored.issue, state="closed", status="closed", updated_at=service.clock())


def close(service: MemoryService, ref: PullRequestRef, by: str) -> None:
    """Close a pull request without merging it."""
    service.change_pull_request(ref, status="closed", closed_by=by)


def reopen(service: MemoryService, ref: PullRequestRef) -> None:
    """Open a closed pull request again."""
    service.change_pull_request(ref, status="open", closed_by="")

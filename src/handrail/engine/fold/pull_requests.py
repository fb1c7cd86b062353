"""Folds the facts of a pull request, and finds what is new in what its host shows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from handrail.model.pull_request_facts import (
    BecameDraft,
    BecameReady,
    CheckResult,
    ChecksReported,
    CommitsPushed,
    HeadMoved,
    PullRequestClosed,
    PullRequestFact,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestRecord,
    PullRequestReopened,
    PullRequestUpdated,
    ReviewSubmitted,
)
from handrail.model.pull_requests import PullRequestState
from handrail.model.workflow.values import JsonValue


def fold_facts(record: PullRequestRecord, facts: Iterable[PullRequestFact]) -> PullRequestRecord:
    """Return a record after some more facts."""
    for fact in facts:
        record = replace(_apply(record, fact), seq=record.seq + 1, changed_at=fact.at)
    return record


def _apply(record: PullRequestRecord, fact: PullRequestFact) -> PullRequestRecord:
    match fact:
        case PullRequestOpened():
            return _open(record, fact)
        case PullRequestUpdated():
            return _update(record, fact)
        case CommitsPushed():
            return _move(replace(record, run=fact.run, pushed=fact.commit), fact.commit)
        case HeadMoved():
            return _move(record, fact.commit)
        case ReviewSubmitted():
            return replace(record, reviews={**record.reviews, fact.author: fact})
        case ChecksReported():
            return replace(record, checks=fact.verdict, check_results=fact.checks)
        case _:
            return _change_status(record, fact)


def _open(record: PullRequestRecord, fact: PullRequestOpened) -> PullRequestRecord:
    return replace(
        record,
        run=fact.run,
        root=fact.root,
        step=fact.step,
        key=fact.key,
        url=fact.url,
        title=fact.title,
        text=fact.text,
        head=fact.head,
        base=fact.base,
        commit=fact.commit,
        pushed=fact.commit,
        repository=fact.repository,
        draft=fact.draft,
        closes=fact.closes,
        opened_at=fact.at,
    )


def _update(record: PullRequestRecord, fact: PullRequestUpdated) -> PullRequestRecord:
    root = fact.root or fact.run
    others = record.others if root in (record.root, *record.others) else (*record.others, root)
    changed = replace(record, title=fact.title, text=fact.text, base=fact.base, closes=fact.closes)
    return replace(changed, run=fact.run, others=others)


def _move(record: PullRequestRecord, commit: str) -> PullRequestRecord:
    """Go to another head, about which nothing has been said yet."""
    if commit == record.commit:
        return record
    return replace(record, commit=commit, checks="unknown", check_results=())


def _change_status(record: PullRequestRecord, fact: PullRequestFact) -> PullRequestRecord:
    match fact:
        case BecameReady() | BecameDraft():
            return replace(record, draft=isinstance(fact, BecameDraft))
        case PullRequestMerged():
            return replace(record, status="merged", merge_commit=fact.commit, ended_by=fact.by, closes=fact.closes)
        case PullRequestClosed():
            return replace(record, status="closed", ended_by=fact.by)
        case PullRequestReopened():
            return replace(record, status="open", ended_by="")
        case _:
            return record


def find_new_facts(record: PullRequestRecord, shown: PullRequestState, now: float) -> tuple[PullRequestFact, ...]:
    """Compare what a host shows with what is recorded; looking twice at the same finds nothing the second time."""
    return tuple(_new_facts(record, shown, now))


def _new_facts(record: PullRequestRecord, shown: PullRequestState, now: float) -> Iterator[PullRequestFact]:
    found = shown.pull_request
    if record.status != "open" and found.status == "open":
        yield PullRequestReopened(at=now)
    if found.head_commit and found.head_commit != record.commit:
        yield HeadMoved(commit=found.head_commit, at=now)
    if found.draft != record.draft and found.status == "open":
        yield BecameDraft(at=now) if found.draft else BecameReady(at=now)
    yield from _new_checks(record, shown, now)
    for review in shown.reviews:
        known = record.reviews.get(review.author)
        if known is None or (known.id, known.verdict) != (review.id, review.verdict):
            yield ReviewSubmitted(
                id=review.id, author=review.author, verdict=review.verdict, commit=review.commit, at=now
            )
    closes = tuple(map(str, shown.closes))
    if found.status == "merged" and record.status != "merged":
        yield PullRequestMerged(commit=found.merge_commit, by=found.closed_by, closes=closes, at=now)
    if found.status == "closed" and record.status != "closed":
        yield PullRequestClosed(by=found.closed_by, at=now)


def _new_checks(record: PullRequestRecord, shown: PullRequestState, now: float) -> Iterator[ChecksReported]:
    commit = shown.pull_request.head_commit
    results = tuple(
        sorted(
            (CheckResult(name=each.name, verdict=each.verdict, url=each.url) for each in shown.checks),
            key=lambda each: (each.name, each.url),
        )
    )
    before = record.check_results if commit == record.commit else ()
    if results != before:
        yield ChecksReported(commit=commit, verdict=shown.check_verdict, checks=results, at=now)


def describe_fact(fact: PullRequestFact) -> str:
    """Describe a fact in one line, for people."""
    match fact:
        case PullRequestOpened():
            return f"opened{' as a draft' if fact.draft else ''} by {fact.run}: {fact.title}"
        case PullRequestUpdated():
            return f"updated by {fact.run}: {fact.title}"
        case CommitsPushed():
            upon = f", on top of {fact.merged[:12]}" if fact.merged else ""
            return f"{fact.run} pushed {fact.commit[:12]}{upon}"
        case HeadMoved():
            return f"somebody pushed {fact.commit[:12]}"
        case ChecksReported():
            return f"checks of {fact.commit[:12]}: {CHECK_WORDS[fact.verdict]}"
        case ReviewSubmitted():
            return f"{fact.author}: {fact.verdict.replace('_', ' ')}"
        case _:
            return _describe_status(fact)


CHECK_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "pending": "pending",
    "unknown": "none reported",
    "needs_person": "need you",
}


def _describe_status(fact: PullRequestFact) -> str:
    match fact:
        case BecameReady():
            return "ready for review"
        case BecameDraft():
            return "turned into a draft"
        case PullRequestMerged():
            closed = f", which closes {', '.join(fact.closes)}" if fact.closes else ""
            return f"merged{f' by {fact.by}' if fact.by else ''} as {fact.commit[:12]}{closed}"
        case PullRequestClosed():
            return f"closed{f' by {fact.by}' if fact.by else ''} without being merged"
        case PullRequestReopened():
            return "opened again"
        case _:
            return fact.kind.replace("_", " ")


def summarize(record: PullRequestRecord) -> dict[str, JsonValue]:
    """Build the entry of a pull request in lists."""
    found: dict[str, JsonValue] = {
        "name": record.name,
        "number": record.number,
        "status": record.status,
        "run": record.run,
        "root": record.root,
        "others": list(record.others),
        "step": record.step,
        "key": record.key,
        "url": record.url,
        "head": record.head,
        "commit": record.commit,
        "repository": record.repository,
        "draft": record.draft,
        "checks": record.checks,
        "reviews": cast("JsonValue", {name: each.verdict for name, each in record.reviews.items()}),
        "closes": list(record.closes),
        "merged_by": record.ended_by if record.status == "merged" else "",
        "started_at": record.opened_at,
    }
    return {name: value for name, value in found.items() if value not in ("", False, [], {})}

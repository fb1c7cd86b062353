"""Reviews and discussions of a pull request."""

from dataclasses import replace
from typing import Literal, cast

from handrail.errors import NotFound
from handrail.model.issues import Comment, IssueRef
from handrail.model.pull_requests import PullRequestRef, PullRequestState, Review, ReviewThread, ReviewVerdict
from handrail.trackers.github.answers import inner, nodes, read_login, read_time
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.queries import PULL_REQUEST

MERGEABLE: dict[str, Literal["yes", "conflict"]] = {"MERGEABLE": "yes", "CONFLICTING": "conflict"}
MOST_PAGES = 10
_VERDICTS: dict[str, ReviewVerdict] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "COMMENTED": "commented",
}


def newest_reviews(answers: list[Json]) -> tuple[Review, ...]:
    """Return the review of each person that counts: a later comment does not take back a verdict.

    A verdict that was dismissed is gone, and an older one does not come back.
    """
    newest: dict[str, Json] = {}
    for each in answers:
        author = read_login(each)
        is_opinion = each.get("state") in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
        if each.get("state") != "PENDING" and (is_opinion or author not in newest):
            newest[author] = each
    counting = (each for each in newest.values() if each.get("state") in _VERDICTS)
    return tuple(_read_review(each) for each in counting)


def _read_review(answer: Json) -> Review:
    return Review(
        author=read_login(answer),
        verdict=_VERDICTS[str(answer["state"])],
        commit=str(answer.get("commit_id") or ""),
        body=str(answer.get("body") or ""),
        at=read_time(answer.get("submitted_at")),
        id=str(answer.get("id") or ""),
    )


async def read_discussion(client: GitHubClient, ref: PullRequestRef, state: PullRequestState) -> PullRequestState:
    """Return a state with what only GraphQL tells: threads, whether it can be merged, and what it closes."""
    threads: list[ReviewThread] = []
    answer: Json = {}
    after: str | None = None
    for _ in range(MOST_PAGES):
        answer = await _ask(client, ref, after)
        threads += [_read_thread(each) for each in nodes(answer, "reviewThreads")]
        page = inner(answer, "reviewThreads", "pageInfo")
        after = str(page.get("endCursor")) if page.get("hasNextPage") else None
        if after is None:
            break
    mergeable = MERGEABLE.get(str(answer.get("mergeable")), "unknown")
    closes = tuple(
        IssueRef(f"{ref.repository.host}/{inner(each, 'repository').get('nameWithOwner')}", str(each["number"]))
        for each in nodes(answer, "closingIssuesReferences")
    )
    return replace(state, threads=tuple(threads), mergeable=mergeable, closes=closes)


async def _ask(client: GitHubClient, ref: PullRequestRef, after: str | None) -> Json:
    repository = ref.repository
    answer = await client.query(
        PULL_REQUEST, owner=repository.owner, name=repository.name, number=ref.number, after=after
    )
    found = inner(answer, "repository").get("pullRequest")
    if found is None:
        raise NotFound(f"there is no pull request {ref}")
    return cast("Json", found)


def _read_thread(answer: Json) -> ReviewThread:
    return ReviewThread(
        id=str(answer["id"]),
        path=str(answer.get("path") or ""),
        line=int(answer.get("line") or 0),
        comments=tuple(_read_comment(each) for each in nodes(answer, "comments")),
        is_resolved=bool(answer.get("isResolved")),
        is_outdated=bool(answer.get("isOutdated")),
    )


def _read_comment(answer: Json) -> Comment:
    author = inner(answer, "author")
    created, edited = read_time(answer.get("createdAt")), read_time(answer.get("updatedAt"))
    return Comment(
        id=str(answer.get("databaseId") or ""),
        author=read_login(answer, "author"),
        body=str(answer.get("body") or ""),
        at=created,
        edited_at=edited if edited > created else 0.0,
        url=str(answer.get("url") or ""),
        by_bot=author.get("__typename") == "Bot",
    )

"""Finds the issues that can be worked on now, in few calls."""

from urllib.parse import urlencode

from handrail.model.issues import Issue
from handrail.trackers.github.answers import read_issue
from handrail.trackers.github.api.client import Json
from handrail.trackers.github.claims import ClaimContext, list_claims
from handrail.trackers.github.dependencies import find_blockers
from handrail.trackers.github.issues import with_status
from handrail.trackers.github.open_work import find_open_work

PAGES = 5
"""The most pages of open issues that are looked at."""


async def list_ready(context: ClaimContext, place: str, limit: int) -> tuple[Issue, ...]:
    """List open issues that nobody has and nothing blocks: the most urgent first, and then the oldest.

    One list and one query tell most; only the issues that could be returned are asked about further.
    """
    asked = urlencode({"state": "open", "sort": "created", "direction": "asc"})
    answers = await context.client.list(f"{context.repository}/issues?{asked}", pages=PAGES)
    answers = [each for each in answers if "pull_request" not in each]
    pairs = [(with_status(read_issue(each, place)), each) for each in answers]
    free = [pair for pair in pairs if _is_free(pair[0], context.me)]
    free.sort(key=lambda pair: (pair[0].priority, pair[0].created_at, pair[0].number))
    taken = await find_open_work(context.client, context.repository, context.me) if free else {}
    ready: list[Issue] = []
    for issue, answer in free:
        if len(ready) >= limit:
            break
        if issue.ref.id not in taken and not await _is_held(context, issue, answer):
            ready.append(issue)
    return tuple(ready)


def _is_free(issue: Issue, me: str) -> bool:
    return issue.status == "open" and all(each == me for each in issue.assignees)


async def _is_held(context: ClaimContext, issue: Issue, answer: Json) -> bool:
    """Whether something open blocks an issue, or somebody has claimed it."""
    return await _is_blocked(context, issue, answer) or await _is_claimed(context, issue, answer)


async def _is_blocked(context: ClaimContext, issue: Issue, answer: Json) -> bool:
    summary: Json | None = answer.get("issue_dependencies_summary")
    if summary is not None:
        return bool(summary.get("blocked_by"))
    path = f"{context.repository}/issues/{issue.ref.id}"
    blockers, _ = await find_blockers(context.client, path, issue.body)
    for each in blockers:
        other = await context.client.find(f"{context.repository}/issues/{each.on}")
        if other is not None and other.get("state") == "open":
            return True
    return False


async def _is_claimed(context: ClaimContext, issue: Issue, answer: Json) -> bool:
    if answer.get("comments") == 0:
        return False
    here = ClaimContext(context.client, context.repository, issue.ref.id, context.me, context.may_write)
    return bool(await list_claims(here))

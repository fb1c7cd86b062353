"""Claims on issues, as comments.

Labels and assignees cannot be set on the condition that nobody else did. The ids of comments are given out by GitHub in
order, so each who wants an issue writes a comment with a mark, and the lowest id that still holds wins; the others
withdraw theirs. A claim counts only if its author may write to the repository.
"""

from collections.abc import Awaitable, Callable

from handrail.errors import TrackerFault
from handrail.frozen import frozen
from handrail.model.issues import Claim, ClaimResult, Marker
from handrail.trackers.github.answers import read_login, read_time
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.repetition import make_once, write_again
from handrail.trackers.github.marks import read_mark, sign_text
from handrail.trackers.github.open_work import find_open_work

_LIVE, _RELEASED = "live", "released"


@frozen
class ClaimContext:
    """An issue, and who claims it."""

    client: GitHubClient
    repository: str
    """The path of the repository in the API."""
    number: str
    me: str
    may_write: Callable[[str], Awaitable[bool]]

    @property
    def comments(self) -> str:
        """The path of its comments."""
        return f"{self.repository}/issues/{self.number}/comments"


async def list_claims(context: ClaimContext) -> list[tuple[str, Claim]]:
    """List the claims that hold, each with its author, the one that counts first."""
    answers = await context.client.list(context.comments)
    found = [(read_login(each), claim) for each in answers if (claim := _read_claim(each)) is not None]
    found.sort(key=lambda each: int(each[1].id))
    return [each for each in found if each[0] == context.me or await context.may_write(each[0])]


async def claim_issue(context: ClaimContext, claim: Claim) -> ClaimResult:
    """Claim an issue, and withdraw if somebody was first."""
    issue = await context.client.get(f"{context.repository}/issues/{context.number}")
    if issue.get("state") == "closed":
        raise TrackerFault(f"issue #{context.number} is closed", next_step="reopen it if there is still work to do")
    before = await list_claims(context)
    ours = next((each for author, each in before if _is_same(author, each, context, claim)), None)
    if ours is None and before:
        return ClaimResult(before[0][1], is_mine=False)
    if ours is None:
        taken = (await find_open_work(context.client, context.repository, context.me)).get(context.number)
        if taken is not None:
            return ClaimResult(taken, is_mine=False)
        await _write(context, claim)
    return await _decide(context, claim)


async def _write(context: ClaimContext, claim: Claim) -> None:
    body = sign_text(_words(claim), _mark(claim, _LIVE))

    async def make() -> Json:
        return await context.client.write("POST", context.comments, {"body": body})

    async def find() -> Json | None:
        answers = await context.client.list(context.comments)
        return next((each for each in answers if _is_ours(each, context, claim)), None)

    await make_once(context.client, make, find)


async def _decide(context: ClaimContext, claim: Claim) -> ClaimResult:
    """Find who was first; of our own comments at most the winning one stays."""
    held = await list_claims(context)
    if not held:
        raise TrackerFault(f"the claim on issue #{context.number} is gone, somebody deleted its comment")
    first = held[0]
    for author, each in held:
        if each.id != first[1].id and _is_same(author, each, context, claim):
            await write_again(context.client, "DELETE", f"{context.repository}/issues/comments/{each.id}")
    return ClaimResult(first[1], is_mine=_is_same(*first, context, claim))


async def release_claim(context: ClaimContext, claim: Claim) -> None:
    """Edit the comments of a claim, so that it does not hold any more."""
    for author, each in await list_claims(context):
        if _is_same(author, each, context, claim):
            body = sign_text(f"{_who(each)} is no longer working on this issue.", _mark(each, _RELEASED))
            path = f"{context.repository}/issues/comments/{each.id}"
            await write_again(context.client, "PATCH", path, {"body": body})


def _is_same(author: str, found: Claim, context: ClaimContext, wanted: Claim) -> bool:
    return author == context.me and found.is_same(wanted)


def _is_ours(answer: Json, context: ClaimContext, wanted: Claim) -> bool:
    found = _read_claim(answer)
    return found is not None and _is_same(read_login(answer), found, context, wanted)


def _read_claim(answer: Json) -> Claim | None:
    """Read the claim that a comment makes; None for a released one and any other comment."""
    mark = read_mark(str(answer.get("body") or ""))
    if mark is None or mark.what != "claim" or mark.extra.get("state") != _LIVE:
        return None
    at = read_time(answer.get("created_at"))
    return Claim(
        by=mark.key, at=at, run=mark.extra.get("run", ""), id=str(answer["id"]), nonce=mark.extra.get("nonce", "")
    )


def _mark(claim: Claim, state: str) -> Marker:
    own = {"nonce": claim.nonce} if claim.nonce else {}
    return Marker(what="claim", key=claim.by, extra={"run": claim.run, "state": state, **own})


def _words(claim: Claim) -> str:
    return f"{_who(claim)} is working on this issue."


def _who(claim: Claim) -> str:
    return f"**Handrail** run `{claim.run}`" if claim.run else claim.by

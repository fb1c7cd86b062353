"""Comments on issues and pull requests: those of a mark are written in place."""

from handrail.model.issues import Comment, Marker
from handrail.ports.trackers import CommentPage
from handrail.trackers.github.answers import read_comment, read_login
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.repetition import make_once, write_again
from handrail.trackers.github.marks import is_marked, read_mark, sign_text

_SEEN = "~"


async def put_comment(client: GitHubClient, issue: str, me: str, text: str, marker: Marker) -> str:
    """Write the comment of a mark and return its id; of several that a lost answer left, the oldest stays."""
    body = sign_text(text, marker)

    async def make() -> Json:
        return await client.write("POST", f"{issue}/comments", {"body": body})

    async def find() -> Json | None:
        return await find_comment(client, issue, me, marker)

    found = await find()
    if found is None:
        made = await make_once(client, make, find)
        # A write that was given up may have arrived late, so the list decides which one stays.
        found = await find() or made
    if _text(found) != body:
        await write_again(client, "PATCH", f"{_repository(issue)}/issues/comments/{found['id']}", {"body": body})
    return str(found["id"])


async def find_comment(client: GitHubClient, issue: str, me: str, marker: Marker) -> Json | None:
    """Find our comment with a mark, and delete further ones."""
    ours = [each for each in await client.list(f"{issue}/comments") if is_ours(each, me, marker)]
    ours.sort(key=lambda each: int(each["id"]))
    for each in ours[1:]:
        await write_again(client, "DELETE", f"{_repository(issue)}/issues/comments/{each['id']}")
    return ours[0] if ours else None


def is_ours(answer: Json, me: str, marker: Marker) -> bool:
    """Whether we wrote something with a mark; a copy by somebody else does not count."""
    return read_login(answer) == me and is_marked(str(answer.get("body") or ""), marker)


def read_comments(answers: list[Json]) -> tuple[Comment, ...]:
    """Read comments, the oldest first, without those that only claim an issue."""
    told = sorted((each for each in answers if not _is_claim(each)), key=lambda each: int(each["id"]))
    return tuple(read_comment(each) for each in told)


async def comments_since(client: GitHubClient, issue: str, since: str) -> CommentPage:
    """List the comments that came or changed since an earlier look.

    GitHub counts in seconds, so `since` names the last second with the comments that were seen in it.
    """
    at, _, seen = since.partition(_SEEN)
    known = set(seen.split(","))
    answers = await client.list(f"{issue}/comments?since={at}" if at else f"{issue}/comments")
    changed = [each for each in answers if str(each["updated_at"]) > at or _version(each) not in known]
    newest = max([at, *(str(each["updated_at"]) for each in answers)])
    last = [_version(each) for each in answers if str(each["updated_at"]) == newest]
    kept = sorted({*last, *(known if newest == at else ())} - {""})
    return CommentPage(read_comments(changed), f"{newest}{_SEEN}{','.join(kept)}" if newest else "")


def _version(answer: Json) -> str:
    """Name a comment with its length, so that an edit within the same second is noticed."""
    return f"{answer['id']}.{len(_text(answer))}"


def _is_claim(answer: Json) -> bool:
    mark = read_mark(_text(answer))
    return mark is not None and mark.what == "claim"


def _text(answer: Json) -> str:
    return str(answer.get("body") or "")


def _repository(issue: str) -> str:
    return issue.rpartition("/issues/")[0]

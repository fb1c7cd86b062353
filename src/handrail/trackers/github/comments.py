"""Comments on issues and pull requests: those of a mark are written in place."""

from collections.abc import Iterable, Mapping

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


async def comments_since(client: GitHubClient, repository: str, looks: Mapping[str, str]) -> dict[str, CommentPage]:
    """List the comments that came or changed since an earlier look at each issue, by the issue's number.

    All issues that were looked at before share one list, that of the repository's comments. GitHub counts in seconds,
    so a look names the last second of that list with the comments that were seen in it.
    """
    again = {number: look for number, look in looks.items() if look}
    found = {number: await _list_issue(client, repository, number, "") for number in looks if number not in again}
    if len(again) == 1:
        found |= {number: await _list_issue(client, repository, number, look) for number, look in again.items()}
    elif again:
        since = min(_second(look) for look in again.values())
        # The oldest first, so that a list that is cut loses only what the next look finds.
        path = f"{repository}/issues/comments?sort=updated&direction=asc&since={since}"
        answers = await client.list(path)
        newest = max([*map(_second, again.values()), *map(_updated, answers)])
        for number, look in again.items():
            own = [each for each in answers if str(each.get("issue_url")).endswith(f"/issues/{number}")]
            found[number] = _read_page(own, look, newest)
    return found


async def _list_issue(client: GitHubClient, repository: str, number: str, look: str) -> CommentPage:
    path = f"{repository}/issues/{number}/comments"
    answers = await client.list(f"{path}?since={_second(look)}" if look else path)
    return _read_page(answers, look, max([_second(look), *map(_updated, answers)]))


def _read_page(answers: list[Json], look: str, newest: str) -> CommentPage:
    at, _, seen = look.partition(_SEEN)
    known = set(seen.split(",")) if seen else set[str]()
    changed = [each for each in answers if _updated(each) > at or _version(each) not in known]
    return CommentPage(read_comments(changed), write_look(answers, newest, known if newest == at else ()))


def write_look(answers: list[Json], newest: str, known: Iterable[str] = ()) -> str:
    """Write where the next look begins: at the newest second, with the comments that were already seen in it."""
    seen = sorted({*known, *(_version(each) for each in answers if _updated(each) == newest)})
    return f"{newest}{_SEEN}{','.join(seen)}" if newest else ""


def _second(look: str) -> str:
    return look.partition(_SEEN)[0]


def _updated(answer: Json) -> str:
    return str(answer["updated_at"])


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

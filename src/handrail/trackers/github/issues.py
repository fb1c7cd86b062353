"""Issues: read, listed, created and changed."""

from dataclasses import replace
from urllib.parse import quote, urlencode

from handrail.errors import NotFound
from handrail.model.issues import Issue, IssueChange, IssueDraft, IssueFilter, Marker
from handrail.trackers.github.answers import find_priority, read_issue
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.repetition import make_once, write_again
from handrail.trackers.github.attachments import find_attachments
from handrail.trackers.github.comments import is_ours, read_comments, write_look
from handrail.trackers.github.dependencies import (
    BLOCKING,
    PARENT,
    add_blocker,
    add_parent,
    find_blockers,
    find_parent,
    refuse_kind,
)
from handrail.trackers.github.labels import (
    STATUS,
    add_labels,
    draft_labels,
    ensure_labels,
    priority_label,
    remove_label,
    status_labels,
)
from handrail.trackers.github.marks import read_mark, sign_text

LONGEST_TITLE = 256
MARKED_PAGES = 20
"""The most pages of our own issues that are searched for a mark."""


async def get_issue(client: GitHubClient, repository: str, number: str) -> Json:
    """Fetch an issue; `NotFound` if there is none."""
    answer = await client.find(f"{repository}/issues/{quote(number, safe='')}") if number.isdecimal() else None
    if answer is None:
        raise NotFound(
            f"there is no issue #{number} in {repository.removeprefix('/repos/')}, or the token may not see it"
        )
    return answer


async def read_whole_issue(client: GitHubClient, repository: str, number: str, place: str) -> Issue:
    """Read an issue with its comments, attachments, dependencies and parent."""
    answer = await get_issue(client, repository, number)
    path = f"{repository}/issues/{number}"
    body = str(answer.get("body") or "")
    answers = await client.list(f"{path}/comments") if answer.get("comments", 1) else []
    comments = read_comments(answers)
    newest = max([str(answer.get("updated_at") or ""), *(str(each["updated_at"]) for each in answers)])
    blockers, _ = await find_blockers(client, path, body)
    texts = (body, *(each.body for each in comments))
    return replace(
        with_status(read_issue(answer, place)),
        comments=comments,
        dependencies=blockers,
        parent=await find_parent(client, path, body),
        attachments=find_attachments(texts, client.endpoint),
        looked=write_look(answers, newest),
    )


def with_status(issue: Issue) -> Issue:
    """Return an issue with the status that one of its labels names."""
    named = status_labels(issue) if issue.state == "open" else ()
    return replace(issue, status=named[0].removeprefix(STATUS)) if named else issue


async def list_issues(client: GitHubClient, repository: str, wanted: IssueFilter, place: str) -> tuple[Issue, ...]:
    """List issues without pull requests, which GitHub counts among them."""
    asked = {"state": wanted.state, "sort": "updated", "direction": "desc"}
    asked |= {"labels": ",".join(wanted.labels)} if wanted.labels else {}
    asked |= {"assignee": wanted.assignee} if wanted.assignee else {}
    text = wanted.text.casefold()
    # A text is looked for here: GitHub's own search lags behind.
    pages = 20 if text else max(1, -(-wanted.limit // 50))
    answers = await client.list(f"{repository}/issues?{urlencode(asked)}", pages=pages)
    found = [with_status(read_issue(each, place)) for each in answers if "pull_request" not in each]
    matching = [each for each in found if text in each.title.casefold() or text in each.body.casefold()]
    return tuple(matching[: wanted.limit])


async def create_issue(client: GitHubClient, repository: str, me: str, draft: IssueDraft, marker: Marker) -> str:
    """Create an issue with its relations, or complete the one that has this mark, and return its number."""
    for each in draft.depends_on:
        if each.kind not in (BLOCKING, PARENT):
            raise refuse_kind(each.kind)
    labels = draft_labels(draft)
    body = {"title": draft.title[:LONGEST_TITLE], "body": sign_text(draft.body, marker), "labels": list(labels)}

    async def make() -> Json:
        return await client.write("POST", f"{repository}/issues", body)

    async def find() -> Json | None:
        asked = urlencode({"creator": me, "state": "all", "sort": "created", "direction": "desc"})
        answers = await client.list(f"{repository}/issues?{asked}", pages=MARKED_PAGES)
        ours = [each for each in answers if "pull_request" not in each and is_ours(each, me, marker)]
        return min(ours, key=lambda each: int(each["number"]), default=None)

    found = await find()
    if found is None:
        await ensure_labels(client, repository, labels)
        found = await make_once(client, make, find)
    number = str(found["number"])
    for each in draft.depends_on:
        await add_relation(client, repository, number, each.on, each.kind)
    if draft.parent:
        await add_parent(client, repository, number, draft.parent)
    return number


async def add_relation(client: GitHubClient, repository: str, number: str, on: str, kind: str) -> None:
    """Let an issue depend on another, or belong to it."""
    if kind == PARENT:
        await add_parent(client, repository, number, on)
    elif kind == BLOCKING:
        await add_blocker(client, repository, number, on)
    else:
        raise refuse_kind(kind)


async def change_issue(client: GitHubClient, repository: str, number: str, change: IssueChange) -> None:
    """Change an issue; what is already so is not written again."""
    answer = await get_issue(client, repository, number)
    issue = with_status(read_issue(answer, ""))
    fields = _changed_fields(answer, issue, change)
    if fields:
        await write_again(client, "PATCH", f"{repository}/issues/{number}", fields)
    await _change_labels(client, repository, number, issue, change)
    await _change_assignees(client, f"{repository}/issues/{number}/assignees", issue, change)


def _changed_fields(answer: Json, issue: Issue, change: IssueChange) -> Json:
    fields: Json = {}
    if change.title is not None and change.title[:LONGEST_TITLE] != issue.title:
        fields["title"] = change.title[:LONGEST_TITLE]
    if change.body is not None and change.body != issue.body:
        mark = read_mark(str(answer.get("body") or ""))
        fields["body"] = change.body if mark is None else sign_text(change.body, mark)
    reason = change.close or ("completed" if change.status == "closed" else None)
    if reason is not None and issue.state == "open":
        fields |= {"state": "closed", "state_reason": reason}
    elif reason is None and change.status is not None and issue.state == "closed":
        fields |= {"state": "open", "state_reason": "reopened"}
    return fields


async def _change_labels(client: GitHubClient, repository: str, number: str, issue: Issue, change: IssueChange) -> None:
    add, remove = list(change.add_labels), list(change.remove_labels)
    status = "closed" if change.close else change.status
    if status is not None:
        wanted = [] if status in ("open", "closed") else [f"{STATUS}{status}"]
        add += wanted
        remove += [label for label in status_labels(issue) if label not in wanted]
    if change.priority is not None and change.priority != issue.priority:
        add.append(priority_label(change.priority))
        remove += [label for label in issue.labels if _names_priority(label)]
    await add_labels(client, repository, number, tuple(each for each in add if each not in issue.labels))
    for label in remove:
        if label in issue.labels and label not in add:
            await remove_label(client, repository, number, label)


def _names_priority(label: str) -> bool:
    return find_priority((label,)) != find_priority(()) or label == priority_label(find_priority(()))


async def _change_assignees(client: GitHubClient, path: str, issue: Issue, change: IssueChange) -> None:
    add = [each for each in change.add_assignees if each not in issue.assignees]
    remove = [each for each in change.remove_assignees if each in issue.assignees]
    if add:
        await write_again(client, "POST", path, {"assignees": add})
    if remove:
        await write_again(client, "DELETE", path, {"assignees": remove})

"""Builds the record of an issue that a run is pinned to: all of it is data from outside, without secrets."""

from collections.abc import Sequence
from datetime import UTC, datetime

from handrail.engine.text.untrusted_text import clean
from handrail.model.issues import Attachment, Comment, Issue
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import EMPTY_ISSUE, is_issue
from handrail.model.workflow.values import JsonValue

MAX_TEXT = 200_000
"""The most characters of a description or a comment that a run is given."""
MAX_COMMENTS = 200
"""The most comments: the newest ones."""
MAX_ALL_COMMENTS = 1_000_000
"""The most characters of all comments together."""


def build_record(issue: Issue, redactor: Redactor) -> dict[str, JsonValue]:
    """Build the record of an issue, without its attachments."""

    def text(value: str, most: int = MAX_TEXT) -> str:
        whole = redactor.text(clean(value))
        return whole if len(whole) <= most else f"{whole[:most]}\n[{len(whole) - most} characters left out]"

    body = text(issue.body)
    labels: list[JsonValue] = [text(each) for each in issue.labels]
    assignees: list[JsonValue] = [text(each) for each in issue.assignees]
    return {
        **EMPTY_ISSUE,
        "id": issue.ref.id,
        "number": issue.number,
        "title": text(issue.title, 1_000),
        "body": body,
        "description": body,
        "labels": labels,
        "author": text(issue.author),
        "assignees": assignees,
        "url": text(issue.url),
        "state": issue.state,
        "comments": [_comment(each, text(each.body)) for each in _newest(issue.comments)],
        "tracker": issue.ref.place.partition("/")[0],
        "repository": issue.ref.place.partition("/")[2],
    }


def add_attachments(inputs: dict[str, JsonValue], found: Sequence[Attachment]) -> dict[str, JsonValue]:
    """Return inputs whose issue names its attachments: where each is, or why it is not there."""
    rows: list[JsonValue] = [
        {"name": clean(each.name), "path": each.path, "size": each.size, "problem": clean(each.problem)}
        for each in found
    ]
    return {
        name: {**value, "attachments": rows} if is_issue(value) and isinstance(value, dict) else value
        for name, value in inputs.items()
    }


def _newest(comments: Sequence[Comment]) -> list[Comment]:
    found: list[Comment] = []
    left = MAX_ALL_COMMENTS
    for each in reversed(comments[-MAX_COMMENTS:]):
        left -= min(len(each.body), MAX_TEXT)
        if left < 0:
            break
        found.append(each)
    return found[::-1]


def _comment(comment: Comment, body: str) -> dict[str, JsonValue]:
    at = datetime.fromtimestamp(comment.at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"author": clean(comment.author), "at": at, "body": body}

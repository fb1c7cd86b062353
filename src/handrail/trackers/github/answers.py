"""Reads GitHub's answers into values."""

import re
from datetime import datetime
from typing import Any, Literal, cast

from handrail.model.issues import Comment, Dependency, Issue, IssueRef, RepositoryRef, has_mark
from handrail.model.pull_requests import PullRequest, PullRequestRef, PullRequestStatus
from handrail.trackers.github.marks import strip_mark

Json = dict[str, Any]
GHOST = "ghost"
"""The author of what a deleted account wrote, as GitHub shows it."""
_PRIORITY = re.compile(r"(?:p|prio|priority)\s*[-:/ ]?\s*([0-4])\Z", re.IGNORECASE)
_WORDS = (
    ("critical", 0),
    ("urgent", 0),
    ("blocker", 0),
    ("high", 1),
    ("medium", 2),
    ("normal", 2),
    ("low", 3),
    ("backlog", 4),
)
_KINDS = ("bug", "feature", "epic", "chore", "task")
_ALIASES = {"enhancement": "feature", "type: bug": "bug", "kind/bug": "bug"}
USUAL_PRIORITY = 2


def inner(answer: Json, *keys: str) -> Json:
    """Return the object inside an answer; an empty one where any on the way is missing."""
    for key in keys:
        answer = cast("Json", answer.get(key) or {})
    return answer


def nodes(answer: Json, *keys: str) -> list[Json]:
    """Return the entries of a connection inside an answer to a query."""
    return cast("list[Json]", inner(answer, *keys).get("nodes") or [])


def read_time(text: str | None) -> float:
    """Read a time; 0 if there is none."""
    if not text:
        return 0.0
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def read_login(answer: Json, key: str = "user") -> str:
    """Return the login of an author."""
    user = inner(answer, key)
    return str(user.get("login") or GHOST)


def is_bot(answer: Json) -> bool:
    """Whether something was written by a bot or through an app."""
    user = inner(answer, "user")
    named = str(user.get("login", "")).endswith("[bot]")
    return named or user.get("type") == "Bot" or bool(answer.get("performed_via_github_app"))


def read_comment(answer: Json) -> Comment:
    """Read a comment, without the mark that we put into ours."""
    created, updated = read_time(answer.get("created_at")), read_time(answer.get("updated_at"))
    return Comment(
        id=str(answer["id"]),
        author=read_login(answer),
        body=strip_mark(str(answer.get("body") or "")),
        at=created,
        edited_at=updated if updated > created else 0.0,
        url=str(answer.get("html_url") or ""),
        by_bot=is_bot(answer),
        is_marked=has_mark(str(answer.get("body") or "")),
    )


def read_issue(answer: Json, place: str) -> Issue:
    """Read an issue, without its comments and dependencies."""
    labels = tuple(read_labels(answer))
    closed = answer.get("state") == "closed"
    return Issue(
        ref=IssueRef(place, str(answer["number"])),
        title=str(answer.get("title") or ""),
        body=strip_mark(str(answer.get("body") or "")),
        state="closed" if closed else "open",
        status="closed" if closed else "open",
        labels=labels,
        author=read_login(answer),
        assignees=tuple(read_login({"user": each}) for each in answer.get("assignees") or ()),
        url=str(answer.get("html_url") or ""),
        created_at=read_time(answer.get("created_at")),
        updated_at=read_time(answer.get("updated_at")),
        priority=find_priority(labels),
        kind=_find_kind(answer, labels),
        is_locked=bool(answer.get("locked")),
    )


def read_labels(answer: Json) -> list[str]:
    """Return the names of labels, which GitHub gives as objects or as texts."""
    labels = cast("list[str | Json]", answer.get("labels") or [])
    names = (each if isinstance(each, str) else str(each.get("name") or "") for each in labels)
    return [name for name in names if name]


def find_priority(labels: tuple[str, ...]) -> int:
    """Return the most urgent priority that labels name, such as `P1`, `priority: high` or `priority/2`."""
    found = [level for label in labels if (level := _level(label)) is not None]
    return min(found, default=USUAL_PRIORITY)


def _level(label: str) -> int | None:
    exact = _PRIORITY.match(label.strip())
    if exact is not None:
        return int(exact[1])
    before, _, word = label.strip().lower().replace("/", ":").partition(":")
    return dict(_WORDS).get(word.strip()) if before.strip() in ("priority", "prio") else None


def _find_kind(answer: Json, labels: tuple[str, ...]) -> str:
    kind = inner(answer, "type")
    words = [str(kind.get("name", "")).lower(), *(label.lower() for label in labels)]
    named = [_ALIASES.get(word, word) for word in words]
    return next((word for word in named if word in _KINDS), "task")


def read_dependencies(answers: list[Json]) -> tuple[Dependency, ...]:
    """Read the issues that block another."""
    return tuple(Dependency(on=str(each["number"])) for each in answers)


def read_mergeable(answer: Json) -> Literal["yes", "conflict", "unknown"]:
    """Return whether a pull request can be merged; GitHub finds it out only when it is first asked."""
    found = answer.get("mergeable")
    return "unknown" if found is None else "yes" if found else "conflict"


def read_pull_request(answer: Json, repository: RepositoryRef) -> PullRequest:
    """Read a pull request, from a list or alone."""
    merged = bool(answer.get("merged") or answer.get("merged_at"))
    status: PullRequestStatus = "merged" if merged else "closed" if answer.get("state") == "closed" else "open"
    head = inner(answer, "head")
    base = inner(answer, "base")
    return PullRequest(
        ref=PullRequestRef(repository, int(answer["number"])),
        status=status,
        title=str(answer.get("title") or ""),
        body=strip_mark(str(answer.get("body") or "")),
        head=str(head.get("ref") or ""),
        head_commit=str(head.get("sha") or ""),
        base=str(base.get("ref") or ""),
        url=str(answer.get("html_url") or ""),
        author=read_login(answer),
        draft=bool(answer.get("draft")),
        merge_commit=str(answer.get("merge_commit_sha") or "") if merged else "",
        node=str(answer.get("node_id") or ""),
        updated_at=read_time(answer.get("updated_at")),
        merged_at=read_time(answer.get("merged_at")),
    )

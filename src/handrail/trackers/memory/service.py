"""What the twins in memory share: issues, pull requests, logins, and a hook at each call.

`on_point` is called with `NAME.before` and `NAME.after` around every call, such as `create.before` or `pr.open.after`,
and may raise: what it raises before a call prevents it, what it raises afterwards loses the answer to a call that took
effect. Everything is stored here and the twins hold nothing, so that a new twin goes on where the last one was cut.
"""

import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from handrail.errors import NotFound
from handrail.model.issues import Claim, Comment, Issue, IssueRef, Marker, RepositoryRef
from handrail.model.pull_requests import Check, PullRequestRef, PullRequestState

Permission: TypeAlias = Literal["none", "read", "triage", "write", "maintain", "admin"]
OnPoint: TypeAlias = Callable[[str], object]
_MAY_DECIDE: frozenset[Permission] = frozenset({"write", "maintain", "admin"})
OURS = "handrail"
"""The login under which Handrail writes, unless a test chooses another."""


@dataclass
class StoredIssue:
    """An issue, with what the tracker keeps beside it."""

    issue: Issue
    marker: Marker | None = None
    comments: list["StoredComment"] = field(default_factory=list["StoredComment"])
    claims: list[Claim] = field(default_factory=list[Claim])


@dataclass
class StoredComment:
    """A comment, the marker with which it was written, and when it last changed."""

    comment: Comment
    marker: Marker | None = None
    changed: int = 0


@dataclass
class StoredPullRequest:
    """A pull request, with what belongs to single heads of it."""

    state: PullRequestState
    marker: Marker | None = None
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    checks: dict[str, tuple[Check, ...]] = field(default_factory=dict[str, tuple[Check, ...]])
    """By head commit."""
    changed: int = 0
    auto_merge: bool = False


def _no_point(_: str) -> None:
    """Let every call go on."""


def _pretend_pushed(repository: RepositoryRef, head: str) -> str:
    """Return a commit for any branch, as if each had been pushed."""
    return hashlib.sha1(f"{repository} {head}".encode(), usedforsecurity=False).hexdigest()


@dataclass
class MemoryService:
    """The state of trackers and code hosts in memory."""

    on_point: OnPoint = _no_point
    clock: Callable[[], float] = lambda: 0.0
    permissions: dict[str, Permission] = field(default_factory=lambda: {OURS: "write"})
    """What each login may do; others may read and comment."""
    bots: set[str] = field(default_factory=set[str])
    head_of: Callable[[RepositoryRef, str], str] = _pretend_pushed
    """Returns the commit of a pushed branch, and an empty text for one that was never pushed."""
    templates: Mapping[str, str] = field(default_factory=dict[str, str])
    """The template for pull requests of a repository, by its whole name."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What attachments contain, by their URL."""
    workflow_permission: bool | None = None
    auto_merge_refusal: str = ""
    calls: list[str] = field(default_factory=list[str])
    """The names of the calls that were begun, in order."""
    issues: dict[IssueRef, StoredIssue] = field(default_factory=dict[IssueRef, StoredIssue])
    pull_requests: dict[PullRequestRef, StoredPullRequest] = field(
        default_factory=dict[PullRequestRef, StoredPullRequest]
    )
    ticks: int = 0

    @asynccontextmanager
    async def call(self, name: str) -> AsyncGenerator[None]:
        """Wrap a call between its two points; one that fails has no second point."""
        self.calls.append(name)
        self.on_point(f"{name}.before")
        yield
        self.on_point(f"{name}.after")

    def tick(self) -> int:
        """Return the next number of a change."""
        self.ticks += 1
        return self.ticks

    def next_number(self, place: str) -> int:
        """Return the next number of a place; issues and pull requests of a repository share them."""
        taken = [ref.id for ref in self.issues if ref.place == place]
        opened = [ref.number for ref in self.pull_requests if str(ref.repository) == place]
        return max([int(each) for each in taken if each.isdecimal()] + opened, default=0) + 1

    def issue(self, ref: IssueRef) -> StoredIssue:
        """Return an issue as it is stored."""
        if ref not in self.issues:
            message = f"There is no issue {ref}."
            raise NotFound(message)
        return self.issues[ref]

    def pull_request(self, ref: PullRequestRef) -> StoredPullRequest:
        """Return a pull request as it is stored."""
        if ref not in self.pull_requests:
            message = f"There is no pull request {ref}."
            raise NotFound(message)
        return self.pull_requests[ref]

    def add_issue(self, ref: IssueRef, title: str, author: str = "ann", **fields: object) -> Issue:
        """Create an issue as a person would, with any other fields of `Issue`."""
        now = self.clock()
        plain = Issue(ref=ref, title=title, author=author, url=f"https://{ref.place}/issues/{ref.id}")
        issue = replace(plain, **{"created_at": now, "updated_at": now, **fields})
        self.issues[ref] = StoredIssue(issue)
        self.tick()
        return issue

    def comment(self, ref: IssueRef, author: str, body: str) -> Comment:
        """Comment on an issue as a person or a bot would."""
        return self.write_comment(ref, author, body, None).comment

    def write_comment(self, ref: IssueRef, author: str, body: str, marker: Marker | None) -> StoredComment:
        """Store a new comment."""
        changed = self.tick()
        comment = Comment(
            id=str(changed),
            author=author,
            body=body,
            at=self.clock(),
            url=f"https://{ref.place}/issues/{ref.id}#issuecomment-{changed}",
            by_bot=author in self.bots,
            is_marked=marker is not None,
        )
        stored = StoredComment(comment, marker, changed)
        self.issue(ref).comments.append(stored)
        return stored

    def edit_comment(self, stored: StoredComment, body: str) -> None:
        """Change the text of a comment."""
        stored.comment = replace(stored.comment, body=body, edited_at=self.clock())
        stored.changed = self.tick()

    def change_pull_request(self, ref: PullRequestRef, **fields: object) -> None:
        """Change fields of a pull request, and note that it changed."""
        stored = self.pull_request(ref)
        shown = replace(stored.state.pull_request, **{"updated_at": self.clock(), **fields})
        stored.state = replace(stored.state, pull_request=shown)
        stored.changed = self.tick()

    def may_decide(self, login: str) -> bool:
        """Whether a login has write permission; a bot never decides."""
        return self.permissions.get(login, "read") in _MAY_DECIDE and login not in self.bots

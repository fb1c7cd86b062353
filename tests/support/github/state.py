"""What the double remembers: accounts, tokens, repositories, issues, pull requests and what was said about them."""

import itertools
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from support.github.git_repository import GitRepository, Identity
from support.github.json_values import Json

Permission = Literal["admin", "maintain", "write", "triage", "read", "none"]
RANKS: tuple[Permission, ...] = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(slots=True, eq=False)
class Account:
    """A person, a bot or an organization."""

    login: str
    id: int
    type: str = "User"

    @property
    def identity(self) -> Identity:
        """Who it is in commits."""
        return Identity(self.login, f"{self.id}+{self.login}@users.noreply.github.com")


@dataclass(slots=True, eq=False)
class Token:
    """A token, and what it may do."""

    value: str
    account: Account
    scopes: tuple[str, ...] | None = ("repo", "workflow")
    """What a classic token says about itself; None for those that say nothing."""
    may_write: bool = True
    may_change_workflows: bool = True
    starts_checks: bool = True

    @property
    def is_actions(self) -> bool:
        """Whether it is the token of a workflow run."""
        return self.value.startswith("ghs_")


@dataclass(slots=True, eq=False)
class Comment:
    """A comment on an issue, a pull request or a line."""

    id: int
    author: Account
    body: str
    created_at: float
    updated_at: float
    reactions: list[Json] = field(default_factory=list[Json])
    path: str = ""
    line: int | None = None
    commit: str = ""
    in_reply_to: int | None = None
    review: int | None = None
    anchor: str = ""
    """The text of the line that it was made on: once that changes, the comment is outdated."""


@dataclass(slots=True, eq=False)
class Review:
    """A review of a pull request."""

    id: int
    author: Account
    state: str
    body: str
    commit: str
    submitted_at: float


@dataclass(slots=True, eq=False)
class Thread:
    """The comments on one line."""

    node: str
    comments: list[Comment]
    resolved_by: Account | None = None


@dataclass(slots=True, eq=False)
class Pull:
    """What a pull request has beyond an issue."""

    id: int
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool = False
    merged_at: float | None = None
    merged_by: Account | None = None
    merge_commit: str | None = None
    auto_merge: Json | None = None
    reviewers: list[Account] = field(default_factory=list[Account])
    teams: list[str] = field(default_factory=list[str])
    reviews: list[Review] = field(default_factory=list[Review])
    threads: list[Thread] = field(default_factory=list[Thread])
    looked_at: tuple[str, str] | None = None
    """The commits whose mergeability was asked for already."""


@dataclass(slots=True, eq=False)
class Issue:
    """An issue, or a pull request: both share one count."""

    number: int
    id: int
    title: str
    body: str | None
    author: Account
    created_at: float
    updated_at: float
    state: str = "open"
    state_reason: str | None = None
    labels: list[str] = field(default_factory=list[str])
    assignees: list[Account] = field(default_factory=list[Account])
    closed_at: float | None = None
    closed_by: Account | None = None
    locked: bool = False
    lock_reason: str | None = None
    comments: list[Comment] = field(default_factory=list[Comment])
    reactions: list[Json] = field(default_factory=list[Json])
    blocked_by: list["Issue"] = field(default_factory=list["Issue"])
    sub_issues: list["Issue"] = field(default_factory=list["Issue"])
    parent: "Issue | None" = None
    timeline: list[Json] = field(default_factory=list[Json])
    pull: Pull | None = None
    searchable_at: int = 0
    """From which search on it is found."""

    @property
    def node(self) -> str:
        """What GraphQL calls it."""
        return f"PR_kwDO{self.pull.id}" if self.pull else f"I_kwDO{self.id}"


@dataclass(slots=True, eq=False)
class Repository:
    """A repository with everything in it."""

    owner: Account
    name: str
    id: int
    git: GitRepository
    default_branch: str = "main"
    private: bool = False
    permissions: dict[str, Permission] = field(default_factory=dict[str, Permission])
    issues: dict[int, Issue] = field(default_factory=dict[int, Issue])
    labels: dict[str, Json] = field(default_factory=dict[str, Json])
    checks: list[Json] = field(default_factory=list[Json])
    statuses: list[Json] = field(default_factory=list[Json])
    logs: dict[int, str] = field(default_factory=dict[int, str])
    deliveries: list[Json] = field(default_factory=list[Json])
    events: list[Json] = field(default_factory=list[Json])
    protected: list[str] = field(default_factory=list[str])
    """Branches that nobody may push to."""
    required_checks: list[str] = field(default_factory=list[str])
    checks_on_push: list[str] = field(default_factory=list[str])
    """The checks that a push starts, unless the token that pushes starts none."""
    allow_auto_merge: bool = True
    methods: tuple[str, ...] = ("merge", "squash", "rebase")

    @property
    def full_name(self) -> str:
        """Owner and name."""
        return f"{self.owner.login}/{self.name}"

    def permission_of(self, account: Account | None) -> Permission:
        """Return what an account may do here."""
        if account is None:
            return "none" if self.private else "read"
        if account is self.owner:
            return "admin"
        return self.permissions.get(account.login, "none" if self.private else "read")

    def may(self, account: Account | None, least: Permission) -> bool:
        """Whether an account has at least a permission."""
        return RANKS.index(self.permission_of(account)) >= RANKS.index(least)


@dataclass(slots=True)
class World:
    """Everything on the double; whoever reads or writes it holds the lock."""

    folder: Path
    base: str = ""
    """The address of the double."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    accounts: dict[str, Account] = field(default_factory=dict[str, Account])
    tokens: dict[str, Token] = field(default_factory=dict[str, Token])
    repositories: dict[str, Repository] = field(default_factory=dict[str, Repository])
    moved: dict[str, Repository] = field(default_factory=dict[str, Repository])
    """The repositories by the names that they had before."""
    attachments: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    search_lag: int = 0
    searches: int = 0
    lazy_mergeability: bool = False
    time_offset: float = 0.0
    _ids: Any = field(default_factory=lambda: itertools.count(2_000_000_001))

    def new_id(self) -> int:
        """Count a database id, larger than any number of an issue."""
        return next(self._ids)

    def now(self) -> float:
        """Return the time of the double in whole seconds, as GitHub keeps it."""
        return float(int(time.time() + self.time_offset))

    def account(self, login: str, kind: str = "User") -> Account:
        """Find or make an account."""
        if login.lower() not in self.accounts:
            self.accounts[login.lower()] = Account(login, self.new_id(), kind)
        return self.accounts[login.lower()]

    def repository(self, owner: str, name: str) -> Repository | None:
        """Find a repository, whatever the case of its name."""
        return self.repositories.get(f"{owner}/{name}".lower())

    def issue_by_id(self, id_: int) -> tuple[Repository, Issue] | None:
        """Find an issue by its database id."""
        for repository in self.repositories.values():
            for issue in repository.issues.values():
                if issue.id == id_:
                    return repository, issue
        return None


def stamp(at: float) -> str:
    """Write a time as GitHub does."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_or_none(at: float | None) -> str | None:
    """Write a time that there may be."""
    return None if at is None else stamp(at)


def parse_stamp(text: str) -> float:
    """Read a time that a caller sends."""
    return datetime.fromisoformat(text).timestamp()

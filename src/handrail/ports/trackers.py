"""Where issues live: one protocol for the local tracker, GitHub, and the twin in memory.

Every write may be repeated after a crash: what was meant is looked up before anything is made again, by a key that the
caller derives from the event that wants it. A call that a service refuses raises `TrackerFault`, or `TrackerBusy` with
the time from which it may be tried again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from handrail.frozen import frozen
from handrail.model.issues import (
    Attachment,
    Claim,
    ClaimResult,
    Comment,
    Issue,
    IssueChange,
    IssueDraft,
    IssueFilter,
    IssueRef,
    Marker,
    RepositoryRef,
    TrackerKind,
)
from handrail.ports.pull_requests import PullRequests


@frozen
class CommentPage:
    """The comments that came or changed since an earlier look."""

    comments: tuple[Comment, ...]
    since: str
    """What to pass to the next look."""


class Tracker(Protocol):
    """A tracker, seen from one repository."""

    @property
    def kind(self) -> TrackerKind:
        """Which tracker it is."""
        ...

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        ...

    async def read(self, ref: IssueRef) -> Issue:
        """Read an issue with its comments, attachments, dependencies and parent; `NotFound` if there is none."""
        ...

    async def find(self, wanted: IssueFilter) -> tuple[Issue, ...]:
        """List issues, without comments and attachments."""
        ...

    async def list_ready(self, limit: int) -> tuple[Issue, ...]:
        """List the issues that can be worked on now, the most urgent first: open, unclaimed, not blocked."""
        ...

    async def create(self, draft: IssueDraft, marker: Marker) -> IssueRef:
        """Create an issue, or find the one that was created with this marker."""
        ...

    async def change(self, ref: IssueRef, change: IssueChange) -> None:
        """Change an issue; what is already so stays."""
        ...

    async def add_dependency(self, ref: IssueRef, on: IssueRef, kind: str = "blocks") -> None:
        """Let an issue depend on another; a dependency that exists already stays."""
        ...

    async def put_comment(self, ref: IssueRef, text: str, marker: Marker) -> str:
        """Write the comment of a marker, in place if there is one already, and return its id."""
        ...

    async def comments_since(self, looks: Mapping[IssueRef, str]) -> Mapping[IssueRef, CommentPage]:
        """List the comments on each issue since an earlier look at it, oldest first; an empty look means all.

        The tracker makes as few calls as it can, and one alone for any number of issues that were looked at before.
        """
        ...

    async def may_decide(self, ref: IssueRef, login: str) -> bool:
        """Whether somebody has write permission, and so may answer for the people of the repository."""
        ...

    async def claim(self, ref: IssueRef, claim: Claim) -> ClaimResult:
        """Claim an issue for a run or a person: of any number that try at once, one gets it."""
        ...

    async def release_claim(self, ref: IssueRef, claim: Claim) -> None:
        """Give up a claim; one that is gone already is ignored."""
        ...

    async def claims(self, ref: IssueRef) -> tuple[Claim, ...]:
        """List the claims that hold or held up, the one that counts first."""
        ...

    async def download(self, attachments: Sequence[Attachment], folder: Path) -> tuple[Attachment, ...]:
        """Store attachments in a folder and return them with their paths; a refused one says why.

        Only from the tracker's own hosts, limited in size and number, and never outside the folder.
        """
        ...


class TrackerCatalog(Protocol):
    """Makes the trackers and code hosts that a command or a run uses.

    Calls for a run use the environment of that run, and so its token: the process that drives it may have another one.
    """

    def repository_of(self, remote: str, run: str = "") -> RepositoryRef | None:
        """Return the repository that the URL of a git remote names; None if its host is not a known code host."""
        ...

    def token_for(self, repository: RepositoryRef, run: str = "") -> str:
        """Return the token for the host of a repository, without calling the host; empty if there is none."""
        ...

    def own_place(self, run: str = "") -> str:
        """Return the place of the issues that the repository keeps on this machine: `local`, or that of beads."""
        ...

    def tracker(self, place: str, run: str = "") -> Tracker:
        """Return the tracker of a place: `local`, that of beads, or a repository such as `github.com/acme/shop`."""
        ...

    def pull_requests(self, repository: RepositoryRef, run: str = "") -> PullRequests:
        """Return the pull requests of the host of a repository."""
        ...


@frozen(kw_only=True)
class AccountHealth:
    """The account under which a code host is called, as far as it could be asked about."""

    host: str
    source: str = ""
    """Where the token was found; empty if there is none."""
    login: str = ""
    scopes: tuple[str, ...] | None = None
    """What a classic token may do; None for one that has permissions instead."""
    starts_no_checks: bool = False
    """Whether pushes with the token start no workflows, as with the token of a job of GitHub Actions."""
    remaining: int | None = None
    """How many calls are left in this hour."""
    limit: int = 0
    problem: str = ""
    next_step: str = ""

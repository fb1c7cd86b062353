"""Pull requests: what is opened, and what a code host says about it.

The facts of a pull request are in the stream `pr:HOST/OWNER/NAME#NUMBER` of the log, also after its run is over.
"""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.issues import Comment, IssueRef, RepositoryRef

STREAM = "pr:"
"""The prefix of the streams that hold the facts of pull requests."""
PullRequestStatus: TypeAlias = Literal["open", "merged", "closed"]
CheckVerdict: TypeAlias = Literal["passed", "failed", "pending", "unknown", "needs_person"]
"""`unknown` if no check was reported; it is never taken for `passed`."""
ReviewVerdict: TypeAlias = Literal["approved", "changes_requested", "commented", "dismissed"]


@frozen
class PullRequestRef:
    """The name of a pull request."""

    repository: RepositoryRef
    number: int

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"

    @property
    def stream(self) -> str:
        """The stream of its facts."""
        return f"{STREAM}{self}"


@frozen(kw_only=True)
class PullRequestDraft:
    """A pull request as it should be."""

    repository: RepositoryRef
    head: str
    """The branch that was pushed."""
    base: str
    title: str
    body: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    """Logins, and teams as `ORGANIZATION/TEAM`."""


@frozen(kw_only=True)
class Check:
    """What one check says about a commit: a check run or a commit status."""

    name: str
    verdict: CheckVerdict
    conclusion: str = ""
    """The host's own word."""
    url: str = ""
    summary: str = ""
    """What it printed, as far as the host keeps it; the end of a long log."""


@frozen(kw_only=True)
class Review:
    """The newest review of one person."""

    author: str
    verdict: ReviewVerdict
    commit: str = ""
    """The commit that was reviewed."""
    body: str = ""
    at: float = 0.0
    id: str = ""


@frozen(kw_only=True)
class ReviewThread:
    """A discussion of some lines."""

    id: str
    path: str
    line: int
    comments: tuple[Comment, ...]
    is_resolved: bool = False
    is_outdated: bool = False


@frozen(kw_only=True)
class PullRequest:
    """A pull request as its host shows it."""

    ref: PullRequestRef
    status: PullRequestStatus
    title: str
    body: str
    head: str
    head_commit: str
    base: str
    url: str
    author: str = ""
    draft: bool = False
    merge_commit: str = ""
    node: str = ""
    """What GraphQL calls it."""
    updated_at: float = 0.0
    merged_at: float = 0.0
    closed_by: str = ""
    remarks: tuple[str, ...] = ()
    """What could not be done while it was opened or updated, such as an unknown reviewer; each is a sentence."""


@frozen(kw_only=True)
class PullRequestState:
    """A pull request with everything that has been said about its current head."""

    pull_request: PullRequest
    checks: tuple[Check, ...] = ()
    reviews: tuple[Review, ...] = ()
    threads: tuple[ReviewThread, ...] = ()
    comments: tuple[Comment, ...] = ()
    mergeable: Literal["yes", "conflict", "unknown"] = "unknown"
    closes: tuple[IssueRef, ...] = ()
    """The issues that are closed when it is merged."""

    @property
    def check_verdict(self) -> CheckVerdict:
        """The verdict of all checks together; without any it is not known."""
        found = {check.verdict for check in self.checks}
        weighty: list[CheckVerdict] = [each for each in _BY_WEIGHT if each in found]
        return weighty[0] if weighty else "unknown"


_BY_WEIGHT: tuple[CheckVerdict, ...] = ("failed", "needs_person", "pending", "unknown", "passed")

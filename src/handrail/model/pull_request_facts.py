"""The facts of a pull request: its stream in the log, which goes on after its run is over.

Each fact is recorded once: what a host shows is compared with what is recorded (`engine.fold.pull_requests`), and only
the difference is new.
"""

from dataclasses import field
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.pull_requests import CheckVerdict, PullRequestStatus, ReviewVerdict

VERSION = 1
"""The version of the shapes below."""


@frozen(kw_only=True)
class CheckResult:
    """What one check says."""

    name: str
    verdict: CheckVerdict
    url: str = ""


@frozen(kw_only=True)
class PullRequestOpened:
    """The pull request was opened, or found where an earlier try had opened it."""

    run: str
    root: str
    """The run that a person started."""
    step: str
    key: str
    """What identifies it: the root run and the step, or the key that its workflow names."""
    url: str
    title: str
    head: str
    base: str
    commit: str
    draft: bool
    repository: str
    """The folder of the user's checkout."""
    closes: tuple[str, ...] = ()
    """The issues that are closed when it is merged, as its text says."""
    text: str = ""
    """What a person wrote for it; empty if it has the text of the workflow."""
    at: float
    kind: Literal["pull_request_opened"] = "pull_request_opened"


@frozen(kw_only=True)
class PullRequestUpdated:
    """A run brought the pull request to another state."""

    run: str
    root: str = ""
    """The run that a person started; empty in older facts, where it is taken for the run itself."""
    title: str
    base: str
    closes: tuple[str, ...] = ()
    text: str = ""
    at: float
    kind: Literal["pull_request_updated"] = "pull_request_updated"


@frozen(kw_only=True)
class CommitsPushed:
    """A run pushed its branch."""

    run: str
    commit: str
    how: Literal["created", "moved", "replaced", "unchanged"] = "moved"
    merged: str = ""
    """The commit of somebody else that it built upon."""
    at: float
    kind: Literal["commits_pushed"] = "commits_pushed"


@frozen(kw_only=True)
class HeadMoved:
    """Somebody else pushed to the branch of the pull request."""

    commit: str
    at: float
    kind: Literal["head_moved"] = "head_moved"


@frozen(kw_only=True)
class ChecksReported:
    """The checks of the current head have another result."""

    commit: str
    verdict: CheckVerdict
    checks: tuple[CheckResult, ...] = ()
    at: float
    kind: Literal["checks_reported"] = "checks_reported"


@frozen(kw_only=True)
class ReviewSubmitted:
    """Somebody reviewed the pull request."""

    id: str
    author: str
    verdict: ReviewVerdict
    commit: str = ""
    at: float
    kind: Literal["review_submitted"] = "review_submitted"


@frozen(kw_only=True)
class BecameReady:
    """The pull request is ready for review and not a draft any more."""

    at: float
    kind: Literal["became_ready"] = "became_ready"


@frozen(kw_only=True)
class BecameDraft:
    """The pull request was turned into a draft again."""

    at: float
    kind: Literal["became_draft"] = "became_draft"


@frozen(kw_only=True)
class PullRequestMerged:
    """The pull request was merged."""

    commit: str
    by: str = ""
    closes: tuple[str, ...] = ()
    """The issues that were closed with it."""
    at: float
    kind: Literal["pull_request_merged"] = "pull_request_merged"


@frozen(kw_only=True)
class PullRequestClosed:
    """The pull request was closed without being merged."""

    by: str = ""
    at: float
    kind: Literal["pull_request_closed"] = "pull_request_closed"


@frozen(kw_only=True)
class PullRequestReopened:
    """The pull request is open again."""

    at: float
    kind: Literal["pull_request_reopened"] = "pull_request_reopened"


PullRequestFact: TypeAlias = (
    PullRequestOpened
    | PullRequestUpdated
    | CommitsPushed
    | HeadMoved
    | ChecksReported
    | ReviewSubmitted
    | BecameReady
    | BecameDraft
    | PullRequestMerged
    | PullRequestClosed
    | PullRequestReopened
)


@frozen(kw_only=True)
class PullRequestRecord:
    """What the facts of a pull request add up to."""

    name: str = ""
    """The whole name, such as `github.com/acme/shop#12`."""
    seq: int = 0
    run: str = ""
    """The run that opened or updated it last."""
    root: str = ""
    others: tuple[str, ...] = ()
    """Further runs that people started and that updated it, because they have its key."""
    step: str = ""
    key: str = ""
    url: str = ""
    title: str = ""
    text: str = ""
    """What a person wrote for it; empty if it has the text of the workflow."""
    head: str = ""
    base: str = ""
    commit: str = ""
    """The head of the pull request."""
    pushed: str = ""
    """The commit that we pushed last."""
    repository: str = ""
    draft: bool = False
    status: PullRequestStatus = "open"
    checks: CheckVerdict = "unknown"
    check_results: tuple[CheckResult, ...] = ()
    reviews: dict[str, ReviewSubmitted] = field(default_factory=dict[str, ReviewSubmitted])
    """The newest review of each person."""
    merge_commit: str = ""
    ended_by: str = ""
    """Who merged or closed it, as far as the host says."""
    closes: tuple[str, ...] = ()
    opened_at: float = 0.0
    changed_at: float = 0.0

    @property
    def number(self) -> int:
        """Its number; 0 before it was opened."""
        number = self.name.rpartition("#")[2]
        return int(number) if number.isdecimal() else 0

    @property
    def is_open(self) -> bool:
        """Whether anything can still happen to it without a person opening it again."""
        return bool(self.name) and self.status == "open"

    @property
    def review_words(self) -> str:
        """Describe its reviews: `approved by ann`, `changes requested by ben`; empty without any."""
        return ", ".join(f"{_REVIEWS[each.verdict]} {each.author}" for each in self.reviews.values())


_REVIEWS: dict[ReviewVerdict, str] = {
    "approved": "approved by",
    "changes_requested": "changes requested by",
    "commented": "commented by",
    "dismissed": "dismissed review of",
}

"""Where pull requests live. The branch itself is pushed with git (`ports.delivery`), never through this port."""

from typing import Protocol

from handrail.frozen import frozen
from handrail.model.issues import Marker, RepositoryRef
from handrail.model.pull_requests import PullRequest, PullRequestDraft, PullRequestRef, PullRequestState


@frozen
class PullRequestPage:
    """The pull requests of a repository that changed since an earlier look."""

    pull_requests: tuple[PullRequest, ...]
    since: str
    """What to pass to the next look, such as an ETag; `unchanged` looks cost next to nothing."""
    unchanged: bool = False


class PullRequests(Protocol):
    """The pull requests of a code host. Every write may be repeated after a crash, as in `ports.trackers`."""

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        ...

    async def find(self, repository: RepositoryRef, head: str, marker: Marker) -> PullRequest | None:
        """Find the newest pull request of a branch that we opened with this marker, whatever its status."""
        ...

    async def open(self, draft: PullRequestDraft, marker: Marker) -> PullRequest:
        """Open a pull request, or find the open one of this branch and bring it to the same state."""
        ...

    async def update(self, ref: PullRequestRef, draft: PullRequestDraft) -> PullRequest:
        """Bring title, body, base, labels and reviewers to the wanted state; one ready for review stays ready."""
        ...

    async def mark_ready(self, ref: PullRequestRef) -> None:
        """Turn a draft into a pull request that is ready for review."""
        ...

    async def mark_draft(self, ref: PullRequestRef) -> None:
        """Turn a pull request that is ready for review into a draft again."""
        ...

    async def enable_auto_merge(self, ref: PullRequestRef) -> str:
        """Let the host merge it when its conditions hold; return why that is not possible, or an empty text."""
        ...

    async def read(self, ref: PullRequestRef) -> PullRequestState:
        """Read a pull request with the checks, reviews and threads of its current head."""
        ...

    async def list_changed(self, repository: RepositoryRef, since: str) -> PullRequestPage:
        """List the pull requests of a repository that changed since an earlier look, with one call."""
        ...

    async def template(self, repository: RepositoryRef) -> str:
        """Return the template for the text of a pull request; empty if the repository has none."""
        ...

    async def may_change_workflows(self, repository: RepositoryRef) -> bool | None:
        """Whether our token may push changes below `.github/workflows`; None if the host does not say."""
        ...

"""A repository of the double as the suites for trackers and code hosts want it, with the real adapter."""

import itertools
import time
from pathlib import Path

import httpx2

from handrail.model.issues import IssueRef, RepositoryRef
from handrail.model.pull_requests import Check, PullRequestRef, Review
from handrail.trackers.github.api.connection import GitHubConnection
from handrail.trackers.github.api.endpoint import endpoint_at
from handrail.trackers.github.api.gate import Pacing
from handrail.trackers.github.pull_requests import GitHubPullRequests
from handrail.trackers.github.tracker import GitHubTracker
from support.github.double import GitHubDouble
from support.github.state import Repository


class GitHubWorld:
    """What Handrail and people see of one repository."""

    writer = "ann"
    stranger = "mallory"

    def __init__(self, github: GitHubDouble, folder: Path, repository: Repository | None = None) -> None:
        self.github = github
        self.folder = folder
        place = repository or github.new_repository()
        self.ann = github.person(self.writer, "write")
        self.mallory = github.person(self.stranger)
        self.repository = RepositoryRef(github.host, place.owner.login, place.name)
        self._numbers = itertools.count(1)
        self.timeout = httpx2.Timeout(20.0)
        self.waited: list[float] = []
        """The waits that were asked for; nothing really waits."""
        self.pacing = Pacing(clock=lambda: time.time() + sum(self.waited), sleep=self._wait, apart=0.0)

    async def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)

    def connection(self, token: str = "") -> GitHubConnection:
        """Connect as a new process would."""
        environ = {"GITHUB_API_URL": self.github.api_url, "GH_TOKEN": token or self.github.token}
        made = GitHubConnection(endpoint_at(self.github.api_url), environ, self.folder / "data")
        made.timeout, made.pacing = self.timeout, self.pacing
        return made

    def tracker(self) -> GitHubTracker:
        """Return what another process would use."""
        return GitHubTracker(self.connection(), self.repository)

    def pull_requests(self) -> GitHubPullRequests:
        """Return what another process would use."""
        return GitHubPullRequests(self.connection())

    def ref(self, number: int) -> IssueRef:
        """Name an issue."""
        return IssueRef(str(self.repository), str(number))

    def comment_as(self, ref: IssueRef, login: str, text: str) -> None:
        """Comment as a person."""
        self.github.person(login).comment(int(ref.id), text)

    def push(self, branch: str) -> str:
        """Push a new commit as a person."""
        return self.github.me.push(branch, {"app.py": f"print({next(self._numbers)})\n"})

    def report_check(self, ref: PullRequestRef, check: Check) -> None:
        """Report a check of the current head."""
        self.github.report_check(self._head(ref), check.name, check.conclusion)

    def submit_review(self, ref: PullRequestRef, review: Review) -> None:
        """Review as a person."""
        self.github.person(review.author, "write").review(ref.number, review.verdict, review.body)

    def merge(self, ref: PullRequestRef) -> None:
        """Merge as a person."""
        self.ann.merge(ref.number)

    def close(self, ref: PullRequestRef) -> None:
        """Close as a person, later than what happened before."""
        self.github.advance(2)
        self.ann.close(ref.number)

    def _head(self, ref: PullRequestRef) -> str:
        return str(self.github.read(f"/pulls/{ref.number}")["head"]["sha"])

"""Hands out the twins in memory for every place and repository."""

import re

from handrail.model.issues import LOCAL, RepositoryRef
from handrail.trackers.memory.pull_requests import MemoryPullRequests
from handrail.trackers.memory.service import OURS, MemoryService
from handrail.trackers.memory.tracker import MemoryTracker

_REMOTE = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?\Z"
)


class MemoryTrackers:
    """A catalog whose trackers and code hosts share one service in memory."""

    def __init__(self, service: MemoryService | None = None, login: str = OURS, host: str = "github.com") -> None:
        self.service = service if service is not None else MemoryService()
        self._login = login
        self._host = host

    def repository_of(self, remote: str, run: str = "") -> RepositoryRef | None:  # noqa: ARG002 -- as below
        """Return the repository that the URL of a git remote names; None if its host is not a known code host."""
        found = _REMOTE.match(remote)
        if found is None or found["host"].lower() != self._host:
            return None
        return RepositoryRef(self._host, found["owner"], found["name"])

    def token_for(self, repository: RepositoryRef, run: str = "") -> str:  # noqa: ARG002 -- as below
        """Return the token for the host of a repository; empty if there is none."""
        return f"token of {self._login}" if self._login else ""

    def own_place(self, run: str = "") -> str:  # noqa: ARG002 -- as below
        """Return the place of the issues that a repository keeps on this machine."""
        return LOCAL

    def tracker(self, place: str, run: str = "") -> MemoryTracker:  # noqa: ARG002 -- all runs see one service
        """Return the tracker of a place."""
        return MemoryTracker(self.service, place, self._login)

    def pull_requests(self, repository: RepositoryRef, run: str = "") -> MemoryPullRequests:  # noqa: ARG002 -- as above
        """Return the pull requests of the host of a repository."""
        return MemoryPullRequests(self.service, self._login)

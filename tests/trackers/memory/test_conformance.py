"""The twins in memory do what every tracker and code host must do."""

from dataclasses import dataclass, field

import pytest

from handrail.model.issues import IssueRef, RepositoryRef
from handrail.model.pull_requests import Check, PullRequestRef, Review
from handrail.ports.pull_requests import PullRequests
from handrail.ports.trackers import Tracker
from handrail.testing.conformance.pull_requests import PullRequestConformance, PullRequestWorld
from handrail.testing.conformance.trackers import TrackerConformance, TrackerWorld
from handrail.trackers.memory import people
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.service import OURS, MemoryService

SHOP = RepositoryRef("github.com", "acme", "shop")


class MemoryTrackerWorld:
    writer = "ann"
    stranger = "mallory"

    def __init__(self) -> None:
        self._trackers = MemoryTrackers(MemoryService(permissions={OURS: "write", "ann": "admin"}))

    def tracker(self) -> Tracker:
        return self._trackers.tracker(str(SHOP))

    def comment_as(self, ref: IssueRef, login: str, text: str) -> None:
        self._trackers.service.comment(ref, login, text)


@dataclass
class MemoryHostWorld:
    repository: RepositoryRef = SHOP
    service: MemoryService = field(default_factory=MemoryService)
    heads: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.service.head_of = lambda _, head: self.heads.get(head, "")

    def pull_requests(self) -> PullRequests:
        return MemoryTrackers(self.service).pull_requests(self.repository)

    def push(self, branch: str) -> str:
        self.heads[branch] = f"{len(self.heads) + int(self.heads.get(branch, '0'), 16) + 1:040x}"
        return self.heads[branch]

    def report_check(self, ref: PullRequestRef, check: Check) -> None:
        people.report_checks(self.service, ref, check)

    def submit_review(self, ref: PullRequestRef, review: Review) -> None:
        people.submit_review(self.service, ref, review)

    def merge(self, ref: PullRequestRef) -> None:
        people.merge(self.service, ref)

    def close(self, ref: PullRequestRef) -> None:
        people.close(self.service, ref, "ann")


class TestMemoryTracker(TrackerConformance):
    @pytest.fixture
    def world(self) -> TrackerWorld:
        return MemoryTrackerWorld()


class TestMemoryPullRequests(PullRequestConformance):
    @pytest.fixture
    def world(self) -> PullRequestWorld:
        return MemoryHostWorld()

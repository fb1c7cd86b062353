"""The adapter for GitHub does what every tracker and code host must do, on the double."""

from handrail.testing.conformance.pull_requests import PullRequestConformance
from handrail.testing.conformance.trackers import TrackerConformance


class TestGitHubTracker(TrackerConformance):
    """The fixture `world` is that of this folder."""


class TestGitHubPullRequests(PullRequestConformance):
    """The fixture `world` is that of this folder."""

"""The double of GitHub, and the adapter that talks to it."""

from pathlib import Path

import pytest

from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server
from support.github.world import GitHubWorld

__all__ = ["github", "github_server", "world"]


@pytest.fixture
def world(github: GitHubDouble, tmp_path: Path) -> GitHubWorld:
    """A repository, with the people of the suites."""
    return GitHubWorld(github, tmp_path)

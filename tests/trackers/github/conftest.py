"""The double of GitHub, and the adapter that talks to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server  # noqa: F401
from support.github.world import GitHubWorld


@pytest.fixture
def world(github: GitHubDouble, tmp_path: Path) -> GitHubWorld:  # noqa: F811
    """A repository, with the people of the suites."""
    return GitHubWorld(github, tmp_path)


@pytest.fixture
def other_world(github: GitHubDouble, tmp_path: Path) -> Callable[[str], GitHubWorld]:  # noqa: F811
    """Build what another machine sees of the same repository."""
    return lambda name: GitHubWorld(github, tmp_path / name, repository=github.repository)

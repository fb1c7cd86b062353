"""What every test of the way from an issue to a merged pull request begins with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server
from support.issue_to_merge.host_room import HostRoom, open_room

__all__ = ["github", "github_server"]


@pytest.fixture
def room(tmp_path: Path, github: GitHubDouble) -> Iterator[HostRoom]:
    """A person, a clone, and the double."""
    with open_room(tmp_path, github) as opened:
        yield opened

from collections.abc import Generator

import httpx2
import pytest

from handrail.testing.leaks import nothing_left_behind
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server

__all__ = ["github", "github_server", "nothing_left_behind"]


@pytest.fixture
def api(github: GitHubDouble) -> Generator[httpx2.Client]:
    """Call the REST API below a fresh repository, as the program under test does."""
    place = f"{github.api_url}/repos/{github.repository.full_name}"
    headers = {"Authorization": f"Bearer {github.token}", "X-GitHub-Api-Version": "2022-11-28"}
    with httpx2.Client(base_url=place, headers=headers, timeout=60) as client:
        yield client

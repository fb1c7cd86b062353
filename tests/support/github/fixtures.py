"""Fixtures: one double per test worker, fresh for every test.

A conftest takes them with `from support.github.fixtures import github, github_server  # noqa: F401`.
"""

from collections.abc import Generator

import pytest

from support.github.double import GitHubDouble


@pytest.fixture(scope="session")
def github_server() -> Generator[GitHubDouble]:
    """Serve for all tests of a worker."""
    double = GitHubDouble()
    yield double
    double.close()


@pytest.fixture
def github(github_server: GitHubDouble) -> Generator[GitHubDouble]:
    """Begin with nothing, and fail the test if a call was made that GitHub does not have."""
    github_server.reset()
    yield github_server
    problems = github_server.take_problems()
    github_server.reset()
    assert not problems, problems

"""Fixtures: one double per test worker, fresh for every test.

A conftest imports both, and names them in its `__all__`.
"""

from collections.abc import Generator

import pytest

from support.github.double import GitHubDouble


@pytest.fixture(scope="session")
def github_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[GitHubDouble]:
    """Serve for all tests of a worker."""
    double = GitHubDouble(tmp_path_factory.mktemp("github"))
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

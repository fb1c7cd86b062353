"""`handrail run --issue` as a person calls it, on the double of GitHub."""

from collections.abc import Generator

import pytest

from support.cli.fresh import Fresh
from support.cli.running import Runs, until
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server

__all__ = ["github", "github_server"]
ASKS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: say, command: 'echo "$TITLE"', env: {TITLE: "${issue.title}"}}
  - {name: ok, type: approval, message: 'Shall I work on ${issue.id}?', revise: say}
  - {name: ship, command: 'echo shipped'}
"""


@pytest.fixture
def repo(fresh: Fresh, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch) -> Generator[Fresh]:
    """A clone of a repository on the double, with a trusted workflow."""
    for name, value in github.environment().items():
        monkeypatch.setenv(name, value)
    fresh.commit()
    fresh.git("remote", "add", "origin", github.clone_url())
    fresh.shop.workflow("asks", ASKS)
    assert fresh.shop.call("trust", "asks", "--yes").exit_code == 0
    yield fresh
    Runs(fresh.shop).end_driver()


def test_a_run_is_named_after_its_issue_and_answered_by_a_comment(repo: Fresh, github: GitHubDouble) -> None:
    ann = github.person("ann", "write")
    number = ann.open_issue("It crashes", "Steps: none")
    result = repo.shop.call("run", "asks", "--issue", str(number))
    assert result.exit_code == 3, result.output
    assert "work-1-a1 needs you" in result.output
    ann.comment(number, "Fine.\n\n/approve")
    seen = repo.shop.call("status", "--refresh")
    assert seen.exit_code == 0, seen.output
    until(lambda: repo.shop.json("status", "work-1-a1")["runs"][0]["status"] == "succeeded")
    until(lambda: github.read(f"/issues/{number}")["state"] == "closed")
    print(repo.shop.call("status", "work-1-a1").output, repo.shop.call("logs", "work-1-a1").output)
    print("\n=====\n".join(each["body"] for each in github.comments(number)))
    assert 0

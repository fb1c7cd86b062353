"""A run outside a git repository: refused, unless the folder is named."""

from pathlib import Path

import pytest

from support.cli.running import Runs
from support.cli.shop import Shop
from support.cli.team import Team

ONE = "name: NAME\nsteps:\n  - {name: write, command: 'touch made'}\n"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """A folder in no repository, and a workflow of the user that can be run in it."""
    root = tmp_path / "plain"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    shop = Shop(root, tmp_path / "home")
    shop.leave_repository()
    shop.user_workflow("make", ONE)
    return Runs(shop)


def test_a_run_outside_a_repository_is_refused_before_anything_happens(outside: Runs) -> None:
    result = outside.call("run", "make")
    assert result.exit_code == 2
    assert "is not in a git repository: a run in a repository gets its own worktree" in result.output
    assert "work on this folder in place: --in ." in result.output
    assert not (outside.shop.root / "made").exists()
    assert outside.json("status")["runs"] == []


def test_a_folder_that_only_looks_like_a_repository_is_refused_too(outside: Runs) -> None:
    (outside.shop.root / ".git").mkdir()
    result = Shop(outside.shop.root / "elsewhere", outside.shop.home).call("run", "make")
    assert result.exit_code == 2, result.output
    assert not (outside.shop.root / "made").exists()


def test_the_folder_that_is_named_is_worked_in_and_told_first(outside: Runs) -> None:
    result = outside.call("run", "make", "--in", ".")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].endswith(f" · works in {outside.shop.root}")
    assert (outside.shop.root / "made").exists()


def test_in_a_repository_a_folder_is_worked_in_as_it_is_only_where_it_is_named(team: Team) -> None:
    team.runs.shop.user_workflow("make", ONE)
    assert team.runs.call("run", "make").exit_code == 0
    assert not (team.root / "made").exists()
    result = team.runs.call("run", "make", "--in", ".")
    assert f" · works in {team.root}" in result.output.splitlines()[0]
    assert (team.root / "made").exists()

"""What is remembered of commits never differs from what git says, whatever happens to the refs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.workspace.git.command import Git
from handrail.workspace.git_workspaces import GitWorkspaces
from support.workspace.git_room import GitRoom, commit, fill, git

Happening = Callable[[Path], object]

HAPPENINGS: dict[str, Happening] = {
    "nothing": lambda path: path,
    "a file": lambda path: fill(path, {"a.txt": "new"}),
    "a commit": lambda path: commit(path, a="1"),
    "an amended commit": lambda path: git(path, "commit", "-q", "--amend", "--allow-empty", "-m", "other"),
    "packed refs": lambda path: git(path, "pack-refs", "--all"),
    "packed refs and a commit": lambda path: (git(path, "pack-refs", "--all"), commit(path, a="1")),
    "a detached head": lambda path: git(path, "checkout", "-q", "--detach"),
    "a commit on a detached head": lambda path: (git(path, "checkout", "-q", "--detach"), commit(path, a="1")),
    "another branch": lambda path: git(path, "checkout", "-qb", "other/branch"),
    "no branch any more": lambda path: (
        git(path, "checkout", "-qb", "other"),
        git(path, "branch", "-qD", git(path, "rev-parse", "--abbrev-ref", "@{-1}")),
    ),
    "a branch that is another's name": lambda path: (
        git(path, "branch", "other"),
        git(path, "symbolic-ref", git(path, "symbolic-ref", "HEAD"), "refs/heads/other"),
    ),
    "a branch set back": lambda path: (commit(path, a="1"), git(path, "reset", "-q", "--hard", "HEAD~1")),
    "a lost ref of the run": lambda path: git(path, "update-ref", "-d", "refs/handrail/r1"),
    "a ref of the run that is no snapshot": lambda path: git(path, "update-ref", "refs/handrail/r1", "HEAD"),
}


@pytest.fixture(params=HAPPENINGS)
def happening(request: pytest.FixtureRequest) -> Happening:
    return HAPPENINGS[request.param]


def test_a_snapshot_is_the_same_with_and_without_what_is_remembered(shop: GitRoom, happening: Happening) -> None:
    tree, path = shop.prepare()
    remembering = shop.spaces
    remembering.snapshot(tree, "r1")
    happening(path)
    taken = remembering.snapshot(tree, "r1")
    assert GitWorkspaces(shop.data).snapshot(tree, "r1") == taken
    assert remembering.snapshot(tree, "r1") == taken
    assert git(shop.repo, "rev-parse", "refs/handrail/r1") == taken.id


def test_what_others_do_meanwhile_is_seen(shop: GitRoom, happening: Happening) -> None:
    tree, path = shop.prepare()
    remembering, other = shop.spaces, GitWorkspaces(shop.data)
    remembering.snapshot(tree, "r1")
    happening(path)
    fill(path, {"theirs.txt": "theirs"})
    theirs = other.snapshot(tree, "r1")
    assert remembering.snapshot(tree, "r1") == theirs


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that are started."""
    words: list[str] = []
    real = Git.start

    def noted(self: Git, *given: str, stdin: bytes = b"") -> object:
        words.append(given[0])
        return real(self, *given, stdin=stdin)

    monkeypatch.setattr(Git, "start", noted)
    return words


def test_a_tree_in_which_nothing_happened_costs_one_git(shop: GitRoom, started: list[str]) -> None:
    tree, _ = shop.prepare()
    spaces = shop.spaces
    spaces.snapshot(tree, "r1")
    started.clear()
    spaces.snapshot(tree, "r1")
    assert started == ["status"]


def test_no_more_is_remembered_than_is_allowed(shop: GitRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.workspace.snapshots.state.MAX_SNAPSHOTS", 3)
    tree, path = shop.prepare()
    spaces = shop.spaces
    for number in range(8):
        commit(path, a=str(number))
        taken = spaces.snapshot(tree, "r1")
        assert git(path, "rev-parse", f"{taken.id}:a") == git(path, "rev-parse", "HEAD:a")
        os.utime(path / "a")
        assert spaces.snapshot(tree, "r1") == taken

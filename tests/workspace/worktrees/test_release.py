"""Worktrees that nobody needs any more are given up, and nothing that was in them is lost."""

import subprocess
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.processes.process_table import LINUX
from support.workspace.git_room import GitRoom, commit, git

RUN = "r1"


def worked(room: GitRoom) -> tuple[Tree, Path]:
    """Make a worktree with work in it that is committed."""
    tree, path = room.prepare(RUN)
    (path / "new.txt").write_text("new\n")
    room.spaces.commit(tree, "Work")
    return tree, path


def test_a_worktree_with_nothing_but_its_commit_goes_and_its_branch_stays(shop: GitRoom) -> None:
    tree, path = worked(shop)
    newest = git(path, "rev-parse", "HEAD")
    assert shop.spaces.release(tree, RUN)
    assert not path.exists()
    assert not shop.spaces.is_there(tree)
    assert git(shop.repo, "rev-parse", tree.branch) == newest
    assert str(path) not in git(shop.repo, "worktree", "list")


def test_it_is_made_again_for_whoever_needs_it(shop: GitRoom) -> None:
    tree, path = worked(shop)
    shop.spaces.release(tree, RUN)
    again, _ = shop.prepare(RUN)
    assert again == tree
    assert (path / "new.txt").read_text() == "new\n"


@pytest.mark.parametrize("name", ["new.txt", "more.txt", "ignored.log"])
def test_what_is_in_no_commit_keeps_it(shop: GitRoom, name: str) -> None:
    (shop.repo / ".gitignore").write_text("*.log\n")
    commit(shop.repo, "Ignore")
    tree, path = worked(shop)
    (path / name).write_text("of nobody else\n")
    assert not shop.spaces.release(tree, RUN)
    assert (path / name).read_text() == "of nobody else\n"


def test_one_that_left_its_branch_stays(shop: GitRoom) -> None:
    tree, path = worked(shop)
    git(path, "checkout", "-q", "--detach", "HEAD^")
    assert not shop.spaces.release(tree, RUN)
    assert path.exists()


def test_that_of_another_run_stays(shop: GitRoom) -> None:
    tree, path = worked(shop)
    assert not shop.spaces.release(tree, "r2")
    assert path.exists()


@pytest.mark.skipif(not LINUX, reason="only Linux tells who works in a folder")
def test_one_in_which_somebody_works_stays(shop: GitRoom) -> None:
    tree, path = worked(shop)
    with subprocess.Popen(["sleep", "600"], cwd=path) as somebody:
        assert not shop.spaces.release(tree, RUN)
        somebody.kill()
    assert path.exists()


def test_a_removal_that_was_cut_off_is_finished(shop: GitRoom) -> None:
    tree, path = worked(shop)
    path.rename(path.with_name(f"{path.name}.removed"))
    assert shop.spaces.release(tree, RUN)
    assert [each.name for each in path.parent.iterdir()] == [f"{RUN}.json"]
    assert str(path) not in git(shop.repo, "worktree", "list")


def test_the_commit_of_one_that_is_gone_is_told_by_its_branch(shop: GitRoom) -> None:
    tree, path = worked(shop)
    files, newest = (git(path, "rev-parse", name).strip() for name in ("HEAD^{tree}", "HEAD"))
    shop.spaces.release(tree, RUN)
    assert shop.spaces.released_commit(tree, files) == newest
    with pytest.raises(WorkspaceFault, match="does not contain its files"):
        shop.spaces.released_commit(tree, git(shop.repo, "rev-parse", f"{newest}^^{{tree}}").strip())

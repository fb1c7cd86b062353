"""Restoring loses nothing: what stood there is kept, and what belongs to others stays where they have it."""

import subprocess
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.ports.workspaces import Conflict
from support.workspace.git_room import GitRoom, commit, everything, fill, git


def test_what_stood_there_is_kept_under_a_ref(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    taken = shop.spaces.snapshot(tree, "r1")
    fill(path, {"precious.txt": "not committed"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert not (path / "precious.txt").exists()
    assert git(shop.repo, "show", "refs/handrail/kept/r1/1:precious.txt") == "not committed"
    shop.spaces.restore(tree, "r1", taken.id)
    assert shop.refs("refs/handrail/kept/") == ["refs/handrail/kept/r1/1"]


def test_what_a_snapshot_holds_already_is_not_kept_again(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    first = shop.spaces.snapshot(tree, "r1")
    fill(path, {"a.txt": "a"})
    shop.spaces.snapshot(tree, "r1")
    shop.spaces.restore(tree, "r1", first.id)
    assert not shop.refs("refs/handrail/kept/")
    assert not (path / "a.txt").exists()


def test_an_ignored_file_in_the_way_is_kept_before_it_is_overwritten(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"data.txt": "mine", "folder": "a file"})
    taken = shop.spaces.snapshot(tree, "r1")
    (path / "folder").unlink()
    fill(path, {".gitignore": "data.txt\nfolder/\n", "data.txt": "generated", "folder/x.bin": "generated too"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert (path / "data.txt").read_text() == "mine"
    assert (path / "folder").read_text() == "a file"
    assert git(shop.repo, "show", "refs/handrail/kept/r1/1:data.txt") == "generated"
    assert git(shop.repo, "show", "refs/handrail/kept/r1/1:folder/x.bin") == "generated too"


def test_an_agent_that_switched_branch_is_brought_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    before = everything(path)
    taken = shop.spaces.snapshot(tree, "r1")
    git(path, "switch", "-qc", "elsewhere")
    done = commit(path, e_txt="e")
    shop.spaces.restore(tree, "r1", taken.id)
    assert everything(path) == before
    assert git(path, "rev-parse", "elsewhere") == done
    git(path, "checkout", "-q", "--detach")
    fill(path, {"x.txt": "x"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert everything(path) == before


def test_a_branch_that_its_owner_moved_is_not_moved_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    git(shop.repo, "branch", "theirs")
    git(path, "switch", "-q", "theirs")
    taken = shop.spaces.snapshot(tree, "r1")
    began = taken.head
    git(path, "switch", "-q", "work/r1")
    git(shop.repo, "switch", "-q", "theirs")
    moved = commit(shop.repo, theirs_txt="t")
    git(shop.repo, "switch", "-q", "main")
    shop.spaces.restore(tree, "r1", taken.id)
    assert git(shop.repo, "rev-parse", "theirs") == moved
    assert git(path, "rev-parse", "HEAD") == began
    assert git(path, "rev-parse", "--symbolic-full-name", "HEAD") == "HEAD"


def test_a_branch_that_is_checked_out_by_the_user_is_not_moved(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    taken = shop.spaces.snapshot(tree, "r1")
    commit(path, f_txt="f")
    git(path, "checkout", "-q", "--detach")
    git(shop.repo, "switch", "-q", "work/r1")
    with pytest.raises(WorkspaceFault, match="is checked out in"):
        shop.spaces.restore(tree, "r1", taken.id)


@pytest.mark.parametrize("kind", ["merge", "rebase", "cherry-pick"])
def test_what_an_agent_left_in_progress_is_ended(shop: GitRoom, kind: str) -> None:
    tree, path = shop.prepare()
    commit(path, README_md="ours\n")
    other = commit(shop.repo, README_md="theirs\n")
    before = everything(path)
    taken = shop.spaces.snapshot(tree, "r1")
    subprocess.run(["git", kind, other], cwd=path, capture_output=True, check=False)
    assert "UU README.md" in git(path, "status", "--porcelain")
    middle = shop.spaces.snapshot(tree, "r1")
    conflicted = everything(path)
    shop.spaces.restore(tree, "r1", taken.id)
    assert everything(path) == before
    assert "nothing to commit" in git(path, "status")
    shop.spaces.restore(tree, "r1", middle.id)
    assert everything(path) == conflicted


def test_a_merge_in_progress_comes_back_with_its_snapshot(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, README_md="ours\n")
    other = commit(shop.repo, README_md="theirs\n")
    assert isinstance(shop.spaces.merge(tree, other, "Merge", markers=True), Conflict)
    taken = shop.spaces.snapshot(tree, "r1")
    git(path, "merge", "--abort")
    shop.spaces.restore(tree, "r1", taken.id)
    assert git(path, "rev-parse", "MERGE_HEAD") == other
    assert git(path, "ls-files", "-u")


def test_a_lock_that_a_killed_git_left_is_no_obstacle(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    taken = shop.spaces.snapshot(tree, "r1")
    fill(path, {"a.txt": "a"})
    folder = Path(git(path, "rev-parse", "--absolute-git-dir"))
    (folder / "index.lock").touch()
    (shop.repo / ".git/refs/heads" / f"{tree.branch}.lock").touch()
    shop.spaces.restore(tree, "r1", taken.id)
    assert not (folder / "index.lock").exists()
    assert not (path / "a.txt").exists()


def test_a_lock_that_is_held_is_respected(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"a.txt": "a"})
    folder = Path(git(path, "rev-parse", "--absolute-git-dir"))
    with (folder / "index.lock").open("w"):
        with pytest.raises(WorkspaceFault) as caught:
            shop.spaces.commit(tree, "work", ("a.txt",))
        assert (folder / "index.lock").exists()
    assert "another git is running here" in str(caught.value.next_step)


def test_an_orphan_branch_of_the_agent_comes_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    start = shop.spaces.snapshot(tree, "r1")
    git(path, "checkout", "-q", "--orphan", "fresh")
    orphan = shop.spaces.snapshot(tree, "r1")
    assert orphan.head == ""
    shop.spaces.restore(tree, "r1", start.id)
    assert git(path, "symbolic-ref", "HEAD") == f"refs/heads/{tree.branch}"
    shop.spaces.restore(tree, "r1", orphan.id)
    assert git(path, "symbolic-ref", "HEAD") == "refs/heads/fresh"
    assert "No commits yet" in git(path, "status")


def test_a_snapshot_of_another_repository_is_refused(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    with pytest.raises(WorkspaceFault, match="is not a snapshot"):
        shop.spaces.restore(tree, "r1", tree.commit)

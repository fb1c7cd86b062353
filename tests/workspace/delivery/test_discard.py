"""What may be discarded: only what was made for the very run, and only when everything in it can be kept."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.delivery.discard import discard, require_discardable, set_files_aside
from support.workspace.git_room import GitRoom, commit, everything, fill, git, listing


def refuse(shop: GitRoom, tree: Tree, run: str, why: str) -> None:
    """Both the question whether it can be discarded and the discard itself say the same, and nothing changes."""
    for attempt in (require_discardable, discard):
        with pytest.raises(WorkspaceFault, match=why):
            attempt(shop.spaces.places, tree, run)


def test_a_locked_work_tree_is_refused_with_the_reason_of_who_locked_it(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    git(shop.repo, "worktree", "lock", "--reason", "I look at it", str(path))
    refuse(shop, tree, "r1", "is locked: I look at it")
    assert path.is_dir()


def test_a_branch_that_is_checked_out_elsewhere_is_refused_before_anything_is_removed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"work.txt": "w"})
    git(path, "switch", "-q", "--detach")
    git(shop.repo, "switch", "-q", "work/r1")
    refuse(shop, tree, "r1", "is checked out in")
    assert (path / "work.txt").exists()


def test_a_repository_inside_a_work_tree_is_refused(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    git(path, "init", "-q", "nested")
    fill(path, {"nested/only-here.txt": "mine"})
    refuse(shop, tree, "r1", "that a backup ref cannot hold: nested")
    assert (path / "nested/only-here.txt").exists()


def test_a_work_tree_that_became_a_repository_of_its_own_is_not_removed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    (path / ".git").unlink()
    git(path, "init", "-q")
    commit(path, "Only here")
    refuse(shop, tree, "r1", "contains a separate repository")
    assert git(path, "log", "--format=%s") == "Only here"


def test_a_link_in_the_place_of_a_work_tree_is_not_followed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    path.rename(shop.root / "moved")
    victim = shop.root / "victim"
    fill(victim, {"mine.txt": "mine"})
    path.symlink_to(victim)
    refuse(shop, tree, "r1", "not a worktree that was created for a run")
    assert listing(victim) == {b"mine.txt": ("file", b"mine")}


def test_a_link_on_the_way_to_a_work_tree_is_not_followed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    elsewhere = shop.root / "elsewhere"
    path.parent.rename(elsewhere)
    path.parent.symlink_to(elsewhere)
    refuse(shop, tree, "r1", "not a worktree that was created for a run")
    assert (elsewhere / "r1/README.md").exists()


@pytest.mark.parametrize("victim", ["checkout", "linked", "other", "home", "dots", "folder"])
def test_a_path_that_is_not_the_runs_own_work_tree_is_left_as_it_is(shop: GitRoom, victim: str) -> None:
    tree, path = shop.prepare("r1")
    _, other = shop.prepare("r2")
    fill(other, {"work.txt": "of r2"})
    git(shop.repo, "worktree", "add", "-q", "-b", "mine", str(shop.root / "linked"))
    fill(shop.root / "linked", {"mine.txt": "mine"})
    fill(shop.root / "folder", {"mine.txt": "mine"})
    paths = {
        "checkout": shop.repo,
        "linked": shop.root / "linked",
        "other": other,
        "home": shop.data,
        "dots": path / ".." / "r2",
        "folder": shop.root / "folder",
    }
    before = listing(shop.root)
    for tried in (replace(tree, path=str(paths[victim])), replace(tree, path=str(paths[victim]), branch="main")):
        refuse(shop, tried, "r1", "is not a worktree that was created|is the worktree of r2")
        with pytest.raises(WorkspaceFault):
            set_files_aside(shop.spaces.places, tried, "r1")
        if victim != "other":
            with pytest.raises(WorkspaceFault):
                shop.spaces.restore(tried, "r1", shop.spaces.snapshot(tree, "r1").id)
    assert {name: each for name, each in listing(shop.root).items() if name in before} == before
    assert git(shop.repo, "branch", "--list", "--format=%(refname:short)").split() == [
        "main",
        "mine",
        "work/r1",
        "work/r2",
    ]


def test_a_called_workflow_does_not_discard_the_tree_of_its_caller(shop: GitRoom) -> None:
    tree, path = shop.prepare("r1")
    refuse(shop, tree, "r1.3", "is the worktree of r1, not of r1.3")
    assert path.is_dir()


def test_a_branch_that_the_record_does_not_name_stays(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    git(shop.repo, "branch", "precious")
    git(shop.repo, "update-ref", "refs/handrail/owned/r1/precious", "main")
    discard(shop.spaces.places, replace(tree, branch="precious"), "r1")
    assert git(shop.repo, "branch", "--list", "--format=%(refname:short)").split() == ["main", "precious"]


def test_the_files_stay_in_a_folder_where_the_repository_is_gone(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"work.txt": "w"})
    shutil.rmtree(shop.repo)
    refuse(shop, tree, "r1", "no longer exists")
    aside = Path(set_files_aside(shop.spaces.places, tree, "r1"))
    assert (aside / "work.txt").read_text() == "w"
    assert not path.exists()


def test_what_stands_where_a_work_tree_belongs_is_set_aside(shop: GitRoom) -> None:
    _, path = shop.prepare("r0")
    place = path.with_name("r1")
    fill(place, {"precious.txt": "p"})
    _, made = shop.prepare("r1")
    assert (made / "README.md").exists()
    assert (place.with_name("r1.set-aside-1") / "precious.txt").read_text() == "p"


def test_the_work_tree_of_a_run_with_the_same_id_in_an_earlier_log_is_set_aside(shop: GitRoom) -> None:
    tree = shop.spaces.prepare(replace(shop.source(), born="1.0"))
    fill(Path(tree.path), {"work.txt": "of the earlier run"})
    again = shop.spaces.prepare(replace(shop.source(), born="2.0"))
    assert (again.path, again.branch) == (tree.path, "work/r1-2")
    assert not (Path(again.path) / "work.txt").exists()
    assert (Path(f"{tree.path}.set-aside-1") / "work.txt").read_text() == "of the earlier run"
    assert shop.spaces.prepare(replace(shop.source(), born="2.0")) == again


def test_a_discard_that_was_cut_off_is_found_and_finished(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, a_txt="a")
    shutil.rmtree(path)
    before = everything(shop.repo)
    ref = discard(shop.spaces.places, tree, "r1")
    assert git(shop.repo, "merge-base", done, ref) == done
    assert not list((shop.data / "worktrees").glob("*/*"))
    assert everything(shop.repo) == before

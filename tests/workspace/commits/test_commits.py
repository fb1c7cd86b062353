"""Commits and merges happen on the run's own branch, once, and without anybody's hooks or drivers."""

from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Conflict, Merged
from support.workspace.git_room import GitRoom, commit, everything, fill, git, listing


def test_everything_that_changed_is_committed_in_the_users_name(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"new.txt": "n", "noise.log": "ignored"})
    (path / "README.md").unlink()
    done = shop.spaces.commit(tree, "Do it\n\nHandrail-Run: r1")
    assert git(path, "rev-parse", "work/r1") == done == git(path, "rev-parse", "HEAD")
    assert git(path, "log", "-1", "--format=%an <%ae>|%B").strip() == "Ada <ada@example.org>|Do it\n\nHandrail-Run: r1"
    assert git(path, "show", "--format=", "--name-status", "HEAD") == "D\tREADME.md\nA\tnew.txt"
    assert git(path, "status", "--porcelain") == ""


def test_somebody_without_an_identity_can_commit(shop: GitRoom, git_home: Path) -> None:
    (git_home / ".gitconfig").unlink()
    tree, path = shop.prepare()
    fill(path, {"new.txt": "n"})
    shop.spaces.commit(tree, "work")
    assert git(path, "log", "-1", "--format=%an") == "Handrail"


def test_an_agent_that_does_nothing_gives_no_commit(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    assert shop.spaces.commit(tree, "nothing") == tree.commit


def test_an_agent_that_committed_itself_gives_no_second_commit(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, a_txt="a")
    assert shop.spaces.commit(tree, "again") == done


def test_only_the_paths_given_are_committed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"src/new.py": "n", "docs/x.md": "x", "README.md": "changed\n"})
    git(path, "add", "README.md")
    done = shop.spaces.commit(tree, "part", ("src", "docs/*.md"))
    assert git(path, "show", "--format=", "--name-status", done) == "A\tdocs/x.md\nA\tsrc/new.py"
    assert git(path, "status", "--porcelain") == "M  README.md"
    assert shop.spaces.commit(tree, "part", ("src", "docs/*.md")) == done


def test_nested_repositories_are_not_committed(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    (path / "vendor").mkdir()
    git(path / "vendor", "init", "-q")
    fill(path, {"a.txt": "a"})
    done = shop.spaces.commit(tree, "work")
    assert git(path, "ls-tree", "--name-only", done).splitlines() == [".gitignore", "README.md", "a.txt", "src"]


def test_work_on_a_branch_of_the_agent_arrives_on_the_runs_branch(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    git(path, "switch", "-qc", "my-own-idea")
    theirs = commit(path, a_txt="a")
    fill(path, {"b.txt": "b"})
    done = shop.spaces.commit(tree, "rest")
    assert git(path, "rev-parse", "work/r1") == done
    assert git(path, "rev-parse", "work/r1^") == theirs == git(path, "rev-parse", "my-own-idea")
    assert tree.branch == "work/r1"
    assert git(path, "symbolic-ref", "HEAD") == f"refs/heads/{tree.branch}"


def test_work_on_a_branch_that_lost_the_runs_commits_is_refused(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, a_txt="a")
    git(path, "switch", "-qc", "aside", "main")
    fill(path, {"b.txt": "b"})
    with pytest.raises(WorkspaceFault, match=r"is on aside, which does not contain the run's branch work/r1"):
        shop.spaces.commit(tree, "rest")


def test_a_conflict_that_nobody_resolved_is_not_committed(shop: GitRoom) -> None:
    tree, path, other = _disagreement(shop)
    shop.spaces.merge(tree, other, "Merge", markers=True)
    with pytest.raises(WorkspaceFault, match=r"unresolved conflicts: README\.md"):
        shop.spaces.commit(tree, "no")
    assert (path / "README.md").exists()


def test_a_merge_has_two_parents_and_brings_the_files(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    ours = commit(path, ours_txt="o")
    theirs = commit(shop.repo, theirs_txt="t")
    result = shop.spaces.merge(tree, theirs, "Merge the base")
    assert result == Merged(git(path, "rev-parse", "HEAD"))
    assert git(path, "log", "-1", "--format=%P %s") == f"{ours} {theirs} Merge the base"
    assert (path / "theirs.txt").read_text() == "t"
    assert git(path, "status", "--porcelain") == ""
    assert shop.spaces.merge(tree, theirs, "again") == Merged(git(path, "rev-parse", "HEAD"), already=True)


def test_a_conflict_changes_nothing(shop: GitRoom) -> None:
    tree, path, other = _disagreement(shop)
    before = everything(path)
    result = shop.spaces.merge(tree, other, "Merge")
    assert isinstance(result, Conflict)
    assert result.files == ("README.md",)
    assert "CONFLICT (content)" in result.message
    assert everything(path) == before


def test_markers_are_left_for_somebody_and_concluded_when_they_are_gone(shop: GitRoom) -> None:
    tree, path, other = _disagreement(shop)
    ours = git(path, "rev-parse", "HEAD")
    assert isinstance(shop.spaces.merge(tree, other, "Merge", markers=True), Conflict)
    assert "<<<<<<<" in (path / "README.md").read_text()
    still = shop.spaces.conclude(tree, "Merge")
    assert still == Conflict(("README.md",), "conflict markers are left in README.md")
    fill(path, {"README.md": "both\n"})
    done = shop.spaces.conclude(tree, "Merge, resolved")
    assert done == Merged(git(path, "rev-parse", "HEAD"))
    assert git(path, "log", "-1", "--format=%P %s") == f"{ours} {other} Merge, resolved"
    assert git(path, "status", "--porcelain") == ""
    assert shop.spaces.conclude(tree, "again") == Merged(git(path, "rev-parse", "HEAD"), already=True)


def test_an_agent_that_commits_the_markers_is_found_out(shop: GitRoom) -> None:
    tree, path, other = _disagreement(shop)
    shop.spaces.merge(tree, other, "Merge", markers=True)
    git(path, "commit", "-qam", "all done")
    assert isinstance(shop.spaces.conclude(tree, "Merge"), Conflict)
    fill(path, {"README.md": "both\n"})
    assert isinstance(shop.spaces.conclude(tree, "Merge"), Merged)
    assert git(path, "status", "--porcelain") == ""


def test_a_work_tree_with_changes_is_not_merged_into(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    other = commit(shop.repo, t_txt="t")
    fill(path, {"left.txt": "l"})
    with pytest.raises(WorkspaceFault, match=r"uncommitted changes.*left\.txt"):
        shop.spaces.merge(tree, other, "Merge")


def test_an_ignored_file_is_not_overwritten_by_a_merge(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(shop.repo, {"forced.log": "theirs"})
    git(shop.repo, "add", "-f", "forced.log")
    git(shop.repo, "commit", "-qm", "log")
    fill(path, {"forced.log": "mine"})
    with pytest.raises(WorkspaceFault, match=r"are in the way of the merge: forced\.log"):
        shop.spaces.merge(tree, "main", "Merge")
    assert (path / "forced.log").read_text() == "mine"


def test_merge_drivers_of_the_repository_do_not_run(shop: GitRoom) -> None:
    commit(shop.repo, _gitattributes="*.md merge=own\n")
    git(shop.repo, "config", "merge.own.driver", f"touch {shop.root}/driver-ran; true")
    tree, path, other = _disagreement(shop)
    assert isinstance(shop.spaces.merge(tree, other, "Merge"), Conflict)
    assert not (shop.root / "driver-ran").exists()
    assert (path / "README.md").read_text() == "ours\n"


def test_items_start_from_what_they_come_after(shop: GitRoom) -> None:
    first, one = shop.prepare("i1")
    second, two = shop.prepare("i2")
    fill(one, {"one.txt": "1"})
    fill(two, {"two.txt": "2"})
    heads = (shop.spaces.commit(first, "one"), shop.spaces.commit(second, "two"))
    third = shop.spaces.prepare(shop.source("i3", merge=heads))
    path = Path(third.path)
    assert {"one.txt", "two.txt"} <= {file.name for file in path.iterdir()}
    assert shop.spaces.changes(third, third.commit) == ()
    assert shop.spaces.merge(third, heads[0], "again") == Merged(git(path, "rev-parse", "HEAD"), already=True)


def test_items_that_conflict_cannot_be_a_start_and_both_are_named(shop: GitRoom) -> None:
    first, one = shop.prepare("i1")
    second, two = shop.prepare("i2")
    fill(one, {"README.md": "1\n"})
    fill(two, {"README.md": "2\n"})
    heads = (shop.spaces.commit(first, "one"), shop.spaces.commit(second, "two"))
    with pytest.raises(WorkspaceFault) as caught:
        shop.spaces.prepare(shop.source("i3", merge=heads))
    assert heads[0][:12] in caught.value.message
    assert heads[1][:12] in caught.value.message
    assert caught.value.files == ("README.md",)


def test_the_users_changes_are_taken_along(shop: GitRoom) -> None:
    fill(shop.repo, {"README.md": "mine\n", "loose.txt": "l"})
    git(shop.repo, "add", "README.md")
    before = everything(shop.repo)
    taken = shop.spaces.snapshot(shop.borrowed(), "r1")
    tree = shop.spaces.prepare(shop.source(changes=taken.id))
    path = Path(tree.path)
    assert listing(path) == listing(shop.repo)
    assert git(path, "status", "--porcelain") == git(shop.repo, "status", "--porcelain")
    assert shop.spaces.changes(tree, tree.commit) == ()
    assert everything(shop.repo) == before


def test_the_users_changes_are_carried_over_to_another_base(shop: GitRoom) -> None:
    git(shop.repo, "switch", "-qc", "feature")
    commit(shop.repo, feature_txt="f")
    fill(shop.repo, {"src/app.py": "print(1)\nprint(2)\nprint(33)\n"})
    taken = shop.spaces.snapshot(shop.borrowed(), "r1")
    path = Path(shop.spaces.prepare(shop.source(changes=taken.id)).path)
    assert not (path / "feature.txt").exists()
    assert git(path, "status", "--porcelain") == " M src/app.py"
    assert (path / "src/app.py").read_text().endswith("33)\n")


def test_a_fork_goes_on_from_a_snapshot_and_leaves_the_original_alone(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, a_txt="a")
    fill(path, {"staged.txt": "s", "loose.txt": "l"})
    git(path, "add", "staged.txt")
    point = shop.spaces.snapshot(tree, "r1")
    files, index, head, _ = everything(path)
    fill(path, {"later.txt": "x"})
    original = everything(path)
    fork = shop.spaces.prepare(shop.source("f1", changes=point.id))
    assert fork.branch == "work/f1"
    assert everything(Path(fork.path)) == (files, index, head, f"refs/heads/{fork.branch}")
    fill(Path(fork.path), {"other.txt": "o"})
    shop.spaces.restore(fork, "f1", point.id)
    assert everything(Path(fork.path)) == (files, index, head, f"refs/heads/{fork.branch}")
    assert everything(path) == original


def _disagreement(shop: GitRoom) -> tuple[Tree, Path, str]:
    tree, path = shop.prepare()
    commit(path, README_md="ours\n")
    return tree, path, commit(shop.repo, README_md="theirs\n")

"""What a run made is shown, applied, merged, discarded and cleaned up; nothing of the user's is touched by surprise."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.errors import NotFound, WorkspaceFault
from handrail.ports.delivery import Life, Retention
from handrail.ports.workspaces import Conflict, FileChange, Merged
from handrail.workspace.delivery.apply import apply_to_checkout, undo_apply
from handrail.workspace.delivery.deliver import merge_into_base
from handrail.workspace.delivery.discard import discard
from handrail.workspace.delivery.janitor import clean, survey
from support.workspace.git_room import GitRoom, commit, everything, fill, git, listing

KEEP = Retention(lambda _: 30, 0.0)


def test_changes_are_listed_with_their_lines(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, a_txt="1\n2\n")
    git(path, "mv", "src/app.py", "src/main.py")
    fill(path, {"README.md": "hello\nthere\n", "bin.dat": "\0"})
    (path / ".gitignore").unlink()
    (path / ".gitignore").symlink_to("README.md")
    assert shop.spaces.changes(tree, tree.commit) == (
        FileChange(".gitignore", "type", 1, 3),
        FileChange("README.md", "modified", 1, 0),
        FileChange("a.txt", "added", 2, 0),
        FileChange("bin.dat", "added", None, None),
        FileChange("src/main.py", "renamed", 0, 0, "src/app.py"),
    )
    point = shop.spaces.snapshot(tree, "r1")
    (path / "a.txt").unlink()
    assert shop.spaces.changes(tree, point.id) == (FileChange("a.txt", "deleted", 0, 2),)
    assert shop.spaces.changes(tree, tree.commit, "work/r1") == (FileChange("a.txt", "added", 2, 0),)
    assert shop.spaces.changes(tree, point.id, point.id) == ()


def test_a_difference_is_a_patch_that_git_applies(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "hello\nthere\n", "new.txt": "n\n"})
    patch = shop.spaces.diff(tree, tree.commit)
    git(shop.repo, "apply", "-", stdin=patch.encode())
    assert listing(shop.repo) == listing(path)
    assert "2 files changed, 2 insertions(+)" in shop.spaces.diff(tree, tree.commit, stat=True)


def test_changes_arrive_in_the_checkout_uncommitted_and_can_be_taken_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "better\n", "new/deep.txt": "n"})
    (path / "src/app.py").unlink()
    fill(shop.repo, {"mine.txt": "untracked"})
    before = everything(shop.repo)
    applied = apply_to_checkout(shop.spaces.places, tree, "r1")
    assert applied.files == ("README.md", "new/deep.txt", "src/app.py")
    assert git(shop.repo, "status", "--porcelain").splitlines() == [
        " M README.md",
        " D src/app.py",
        "?? mine.txt",
        "?? new/",
    ]
    assert apply_to_checkout(shop.spaces.places, tree, "r1").files == ()
    undo_apply(shop.spaces.places, tree, "r1")
    assert everything(shop.repo) == before
    with pytest.raises(NotFound, match="nothing of r1 was applied"):
        undo_apply(shop.spaces.places, tree, "r1")


def test_a_checkout_that_moved_on_is_merged_with(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"src/app.py": "print(11)\nprint(2)\nprint(3)\n"})
    commit(shop.repo, src__app_py="print(1)\nprint(2)\nprint(33)\n")
    apply_to_checkout(shop.spaces.places, tree, "r1")
    assert (shop.repo / "src/app.py").read_text() == "print(11)\nprint(2)\nprint(33)\n"


def test_files_that_the_user_edits_are_refused_by_name_and_nothing_is_applied(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "better\n", "a.txt": "a"})
    fill(shop.repo, {"README.md": "mine\n"})
    before = everything(shop.repo)
    with pytest.raises(WorkspaceFault, match=r"your own uncommitted edits are in the way: README\.md"):
        apply_to_checkout(shop.spaces.places, tree, "r1")
    assert everything(shop.repo) == before


def test_a_conflict_with_newer_commits_is_refused_and_nothing_is_applied(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "better\n", "a.txt": "a"})
    commit(shop.repo, README_md="newer\n")
    before = everything(shop.repo)
    with pytest.raises(WorkspaceFault, match=r"conflicts with the run's changes: README\.md"):
        apply_to_checkout(shop.spaces.places, tree, "r1")
    assert everything(shop.repo) == before


def test_an_ignored_file_of_the_user_is_not_overwritten(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"x.log": "theirs"})
    git(path, "add", "-f", "x.log")
    fill(shop.repo, {"x.log": "mine"})
    with pytest.raises(WorkspaceFault, match=r"are in the way of files of the run: x\.log"):
        apply_to_checkout(shop.spaces.places, tree, "r1")
    assert (shop.repo / "x.log").read_text() == "mine"


def test_a_run_that_took_changes_along_can_be_applied_over_them(shop: GitRoom) -> None:
    fill(shop.repo, {"README.md": "mine\n"})
    taken = shop.spaces.snapshot(shop.borrowed(), "r1")
    tree = shop.spaces.prepare(shop.source(changes=taken.id))
    fill(Path(tree.path), {"README.md": "mine\nand more\n"})
    apply_to_checkout(shop.spaces.places, tree, "r1")
    assert (shop.repo / "README.md").read_text() == "mine\nand more\n"
    undo_apply(shop.spaces.places, tree, "r1")
    assert (shop.repo / "README.md").read_text() == "mine\n"


def test_applying_again_brings_what_is_new_and_is_taken_back_step_by_step(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "one\n"})
    apply_to_checkout(shop.spaces.places, tree, "r1")
    fill(path, {"README.md": "two\n", "b.txt": "b"})
    apply_to_checkout(shop.spaces.places, tree, "r1")
    assert (shop.repo / "README.md").read_text() == "two\n"
    undo_apply(shop.spaces.places, tree, "r1")
    assert (shop.repo / "README.md").read_text() == "one\n"
    undo_apply(shop.spaces.places, tree, "r1")
    assert git(shop.repo, "status", "--porcelain") == ""


def test_what_was_edited_after_applying_is_not_taken_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"README.md": "better\n"})
    apply_to_checkout(shop.spaces.places, tree, "r1")
    fill(shop.repo, {"README.md": "better still\n"})
    with pytest.raises(WorkspaceFault, match=r"edited after the changes were applied: README\.md"):
        undo_apply(shop.spaces.places, tree, "r1")
    assert (shop.repo / "README.md").read_text() == "better still\n"


def test_a_base_that_is_checked_out_and_clean_is_moved_forward_with_its_files(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    (path / "README.md").unlink()
    new = commit(path, a_txt="a")
    fill(shop.repo, {"untracked.txt": "mine"})
    assert merge_into_base(shop.spaces.places, tree, "Merge") == Merged(new)
    assert (git(shop.repo, "rev-parse", "main"), git(shop.repo, "branch", "--show-current")) == (new, "main")
    assert git(shop.repo, "status", "--porcelain") == "?? untracked.txt"
    assert ((shop.repo / "a.txt").read_text(), (shop.repo / "README.md").exists()) == ("a", False)


def edit_file(repo: Path) -> None:
    fill(repo, {"README.md": "mine\n"})


def edit_behind_a_flag(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "README.md")
    fill(repo, {"README.md": "mine\n"})


def stage_file(repo: Path) -> None:
    fill(repo, {"new.txt": "mine\n"})
    git(repo, "add", "new.txt")


def leave_untracked_file(repo: Path) -> None:
    fill(repo, {"a_txt": "mine", "a.txt": "mine"})


@pytest.mark.parametrize("change", [edit_file, edit_behind_a_flag, stage_file, leave_untracked_file])
def test_a_checkout_with_changes_in_the_way_is_not_touched(shop: GitRoom, change: Callable[[Path], None]) -> None:
    tree, path = shop.prepare()
    commit(path, a_txt="a", README_md="theirs\n")
    change(shop.repo)
    before = everything(shop.repo)
    with pytest.raises(WorkspaceFault, match="main is checked out in") as caught:
        merge_into_base(shop.spaces.places, tree, "Merge")
    command = f"git -C {shop.repo} merge work/r1"
    assert caught.value.next_step == f"commit or stash your changes there, then: {command}"
    assert everything(shop.repo) == before


def test_a_checked_out_base_with_commits_of_its_own_is_not_moved_and_the_command_is_given(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, a_txt="a")
    commit(shop.repo, b_txt="b")
    before = everything(shop.repo)
    with pytest.raises(WorkspaceFault, match="has commits that work/r1 lacks") as caught:
        merge_into_base(shop.spaces.places, tree, "Merge")
    assert caught.value.next_step == f"merge it there: git -C {shop.repo} merge work/r1"
    assert everything(shop.repo) == before


def test_a_base_that_nobody_has_checked_out_is_merged_into(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, a_txt="a")
    other = commit(shop.repo, b_txt="b")
    git(shop.repo, "switch", "-qc", "mine")
    before = everything(shop.repo)
    result = merge_into_base(shop.spaces.places, tree, "Merge r1")
    assert git(shop.repo, "log", "-1", "--format=%P %s", "main") == f"{other} {done} Merge r1"
    assert result == Merged(git(shop.repo, "rev-parse", "main"))
    assert merge_into_base(shop.spaces.places, tree, "Merge r1") == Merged(
        git(shop.repo, "rev-parse", "main"), already=True
    )
    assert everything(shop.repo) == before


def test_a_base_that_conflicts_stays(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    commit(path, README_md="ours\n")
    other = commit(shop.repo, README_md="theirs\n")
    git(shop.repo, "switch", "-qc", "mine")
    result = merge_into_base(shop.spaces.places, tree, "Merge r1")
    assert isinstance(result, Conflict)
    assert git(shop.repo, "rev-parse", "main") == other


def test_discarding_keeps_commits_and_files_under_a_ref(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, a_txt="a")
    fill(path, {"loose.txt": "l"})
    (path / "readonly").mkdir()
    fill(path, {"readonly/x.txt": "x"})
    (path / "readonly").chmod(0o555)
    ref = discard(shop.spaces.places, tree, "r1")
    assert not path.exists()
    assert git(shop.repo, "branch", "--list", "work/*") == ""
    assert git(shop.repo, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert git(shop.repo, "show", f"{ref}:loose.txt") == "l"
    assert git(shop.repo, "merge-base", done, ref) == done
    assert not list((shop.data / "worktrees").glob("*/*"))
    assert not list((shop.data / "indexes").iterdir())
    assert shop.refs("refs/handrail/owned/") == []


def test_discarding_twice_and_after_the_folder_is_gone_loses_no_commit(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, a_txt="a")
    subprocess.run(["rm", "-rf", str(path)], check=True)
    ref = discard(shop.spaces.places, tree, "r1")
    assert git(shop.repo, "merge-base", done, ref) == done
    assert discard(shop.spaces.places, tree, "r1") == ref


def test_the_janitor_says_what_may_go_and_why_the_rest_stays(shop: GitRoom) -> None:
    prepared = {
        name: shop.prepare(name) for name in ("merged", "squashed", "dirty", "ahead", "alive", "strange", "busy")
    }
    for name in ("merged", "squashed", "ahead"):
        commit(prepared[name][1], **{f"{name}_txt": name})
    commit(prepared["squashed"][1], squashed_txt="squashed twice")
    fill(prepared["dirty"][1], {"left.txt": "l"})
    git(shop.repo, "merge", "-q", "work/merged")
    git(shop.repo, "merge", "-q", "--squash", "work/squashed")
    git(shop.repo, "commit", "-qm", "squashed")
    commit(shop.repo, squashed_txt="and then changed")
    lives: dict[str, Life] = {"alive": "alive", "strange": "unknown"}
    mine = shop.root / "mine"
    git(shop.repo, "worktree", "add", "-q", "-b", "mine", str(mine))
    with subprocess.Popen(["sleep", "60"], cwd=prepared["busy"][1]) as sleeper:
        found = survey(shop.spaces.places, lambda run: lives.get(run, "over"), (), KEEP)
        sleeper.kill()
    reasons = {one.run: one.reasons for one in found if one.kind == "worktree"}
    assert reasons == {
        "merged": (),
        "squashed": (),
        "dirty": ("uncommitted changes",),
        "ahead": ("work/ahead has commits that main does not have",),
        "alive": ("the run has not ended",),
        "strange": ("there is no such run",),
        "busy": (f"in use by sleep ({sleeper.pid})",),
    }
    assert all(one.size > 0 for one in found if one.kind == "worktree")
    refs = clean(shop.spaces.places, found)
    assert len(refs) == 2
    assert {path.exists() for name, (_, path) in prepared.items() if name not in ("merged", "squashed")} == {True}
    assert not prepared["merged"][1].exists()
    assert git(shop.repo, "branch", "--list", "work/merged", "work/squashed") == ""
    assert mine.exists()


def test_the_janitor_leaves_a_branch_that_no_record_says_was_made_for_a_run(shop: GitRoom) -> None:
    _, path = shop.prepare("one")
    git(shop.repo, "worktree", "remove", str(path))
    path.with_name("one.json").unlink()
    found = survey(shop.spaces.places, lambda _: "over", [str(shop.repo)], KEEP)
    branches = {one.name: one.reasons for one in found if one.kind == "branch"}
    assert branches == {"work/one": ("no record says which run it was created for",)}
    clean(shop.spaces.places, found)
    assert git(shop.repo, "branch", "--list", "--format=%(refname:short)", "work/*") == "work/one"


def test_the_janitor_removes_locks_that_nobody_holds(shop: GitRoom) -> None:
    shop.prepare()
    (shop.data / "locks/stale.lock").touch()
    with shop.spaces.places.lock(shop.repo):
        found = [one for one in survey(shop.spaces.places, _alive, (), KEEP) if one.kind == "lock"]
        assert sorted(bool(one.reasons) for one in found) == [False, True]
        clean(shop.spaces.places, found)
        assert len(list((shop.data / "locks").iterdir())) == 1


def _alive(run: str) -> Life:
    return "alive"

"""A run gets a worktree of its own, and the user's checkout is only read."""

import multiprocessing
import shutil
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.workspace.git.repositories import default_branch, find_root, head, list_uncommitted
from handrail.workspace.git_workspaces import GitWorkspaces
from support.workspace.git_room import GitRoom, commit, fill, git, listing, prepare_three


def test_a_worktree_lies_below_the_data_folder_and_only_the_user_may_look_in(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    assert path.parent.parent == shop.data / "worktrees"
    assert path.name == "r1"
    assert path.parent.name.startswith("shop-")
    assert path.stat().st_mode & 0o777 == 0o700
    assert listing(path) == listing(shop.repo)
    assert tree.branch == "work/r1"
    assert git(path, "symbolic-ref", "HEAD") == f"refs/heads/{tree.branch}"


def test_preparing_again_finds_the_same_worktree_with_the_work_in_it(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"new.txt": "work"})
    assert shop.prepare()[0] == tree
    assert (path / "new.txt").read_text() == "work"


def test_a_dirty_checkout_stays_as_it_is_and_is_not_copied(shop: GitRoom) -> None:
    fill(shop.repo, {"README.md": "mine\n", "untracked.txt": "x"})
    git(shop.repo, "add", "README.md")
    before = listing(shop.repo), git(shop.repo, "status", "--porcelain"), (shop.repo / ".git/index").read_bytes()
    _, path = shop.prepare()
    assert (path / "README.md").read_text() == "hello\n"
    assert not (path / "untracked.txt").exists()
    assert (listing(shop.repo), git(shop.repo, "status", "--porcelain")) == before[:2]
    assert list_uncommitted(shop.spaces.places.git(shop.repo)) == ("README.md", "untracked.txt")


def test_a_user_on_another_branch_stays_there(shop: GitRoom) -> None:
    git(shop.repo, "switch", "-qc", "feature")
    commit(shop.repo, a_txt="a")
    _, path = shop.prepare()
    assert not (path / "a.txt").exists()
    assert head(shop.spaces.places.git(shop.repo)).branch == "feature"


def test_a_base_that_moved_on_does_not_move_the_worktree(shop: GitRoom) -> None:
    source = shop.source()
    later = commit(shop.repo, b_txt="b")
    tree = shop.spaces.prepare(source)
    assert tree.commit == source.commit != later
    assert git(Path(tree.path), "rev-parse", "HEAD") == source.commit


def test_a_branch_of_somebody_else_is_left_alone_and_a_free_name_is_taken(shop: GitRoom) -> None:
    git(shop.repo, "branch", "work/r1")
    commit(shop.repo, c_txt="c")
    theirs = git(shop.repo, "rev-parse", "work/r1")
    tree, _ = shop.prepare()
    assert tree.branch == "work/r1-2"
    assert git(shop.repo, "rev-parse", "work/r1") == theirs


def test_a_branch_that_is_checked_out_elsewhere_is_left_alone(shop: GitRoom) -> None:
    git(shop.repo, "switch", "-qc", "work/r1")
    assert shop.prepare()[0].branch == "work/r1-2"
    assert head(shop.spaces.places.git(shop.repo)).branch == "work/r1"


def test_a_branch_that_is_the_folder_of_the_wished_one_is_no_obstacle(shop: GitRoom) -> None:
    git(shop.repo, "branch", "work/r1/deep")
    assert shop.prepare()[0].branch == "work/r1-2"


def test_a_name_that_cannot_be_a_branch_is_refused(shop: GitRoom) -> None:
    with pytest.raises(WorkspaceFault, match=r"`a\.\.b` is not a valid branch name"):
        shop.spaces.prepare(shop.source(branch="a..b"))


def test_a_worktree_that_the_user_deleted_is_made_again_from_its_branch(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    done = commit(path, d_txt="d")
    shutil.rmtree(path)
    again, _ = shop.prepare()
    assert again == tree
    assert git(path, "rev-parse", "HEAD") == done
    assert (path / "d.txt").read_text() == "d"


def test_a_worktree_that_the_user_deleted_and_pruned_is_made_again_too(shop: GitRoom) -> None:
    _, path = shop.prepare()
    done = commit(path, d_txt="d")
    shutil.rmtree(path)
    git(shop.repo, "worktree", "prune")
    shop.prepare()
    assert git(path, "rev-parse", "HEAD") == done


def test_a_folder_that_is_no_worktree_any_more_is_set_aside_with_the_work_in_it(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    (path / ".git").unlink()
    (path / "unsaved.txt").write_text("mine\n")
    again, _ = shop.prepare()
    assert again == tree
    assert not (path / "unsaved.txt").exists()
    assert (path.with_name(f"{path.name}.set-aside-1") / "unsaved.txt").read_text() == "mine\n"


def test_an_emptied_worktree_never_acts_on_a_repository_around_it(shop: GitRoom) -> None:
    git(shop.data.parent, "init", "-q", ".")
    _, path = shop.prepare()
    (path / ".git").unlink()
    tree, _ = shop.prepare()
    assert git(path, "rev-parse", "--show-toplevel") == tree.path
    (path / ".git").unlink()
    with pytest.raises(WorkspaceFault):
        shop.spaces.snapshot(tree, "r1")


def test_a_deleted_worktree_whose_branch_the_user_took_goes_on_beside_it(shop: GitRoom) -> None:
    _, path = shop.prepare()
    done = commit(path, d_txt="d")
    shutil.rmtree(path)
    git(shop.repo, "worktree", "prune")
    git(shop.repo, "switch", "-q", "work/r1")
    again, _ = shop.prepare()
    assert again.branch == "work/r1-2"
    assert git(path, "rev-parse", "HEAD") == done


def test_work_on_a_branch_survives_when_our_record_of_it_is_lost(shop: GitRoom) -> None:
    _, path = shop.prepare()
    done = commit(path, d_txt="d")
    shutil.rmtree(shop.data)
    git(shop.repo, "worktree", "prune")
    again, _ = shop.prepare()
    assert again.branch == "work/r1-2"
    assert git(shop.repo, "rev-parse", "work/r1") == done


def test_a_bare_push_aims_at_the_branch_itself(shop: GitRoom) -> None:
    origin = shop.root / "origin.git"
    git(shop.root, "init", "-q", "--bare", "-b", "main", str(origin))
    git(shop.repo, "remote", "add", "origin", str(origin))
    git(shop.repo, "push", "-qu", "origin", "main")
    git(shop.repo, "config", "branch.autoSetupMerge", "always")
    before = git(origin, "rev-parse", "main")
    for setting in ("simple", "upstream"):
        git(shop.repo, "config", "push.default", setting)
        _, path = shop.prepare(f"r-{setting}")
        done = commit(path, **{f"{setting}_txt": "x"})
        git(path, "push", "-q")
        assert git(origin, "rev-parse", f"work/r-{setting}") == done
    assert git(origin, "rev-parse", "main") == before


def test_a_repository_without_a_remote_gets_no_upstream(shop: GitRoom) -> None:
    shop.prepare()
    assert "work/r1" not in (shop.repo / ".git/config").read_text()


def test_hooks_of_the_repository_do_not_run(shop: GitRoom) -> None:
    for name in ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        hook = shop.repo / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {shop.root}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    tree, path = shop.prepare()
    fill(path, {"x.txt": "x"})
    shop.spaces.snapshot(tree, "r1")
    shop.spaces.commit(tree, "work")
    assert not list(shop.root.glob("ran-*"))


def test_variables_of_git_in_our_environment_change_nothing(shop: GitRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shop.source()
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "broken")
    tree = shop.spaces.prepare(source)
    assert (Path(tree.path) / "README.md").exists()


def test_files_that_are_ignored_and_named_are_copied_whatever_the_checkout_says(shop: GitRoom) -> None:
    fill(
        shop.repo, {".env": "KEY=1", "debug.log": "log", "build/cache.bin": "b", "keep/.env": "deep", "plain.txt": "no"}
    )
    (shop.repo / ".env").chmod(0o600)
    fill(shop.repo, {".worktreeinclude": "debug.log\n"})
    tree = shop.spaces.prepare(shop.source(copy=(".env", "plain.txt", "README.md", "build/*.bin")))
    path = Path(tree.path)
    assert (path / ".env").read_text() == "KEY=1"
    assert (path / ".env").stat().st_mode & 0o777 == 0o600
    assert (path / "keep/.env").read_text() == "deep"
    assert (path / "build/cache.bin").read_text() == "b"
    assert not (path / "debug.log").exists()
    assert not (path / "plain.txt").exists()


def test_copied_files_never_leave_the_worktree_nor_come_from_outside(shop: GitRoom) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    (outside / "secret.log").write_text("secret")
    (shop.repo / "away.log").symlink_to(outside / "secret.log")
    (shop.repo / "near.log").symlink_to("README.md")
    (shop.repo / "escape").symlink_to(outside)
    git(shop.repo, "add", "escape")
    git(shop.repo, "commit", "-qm", "a link out")
    source = shop.source(copy=("*.log",))
    git(shop.repo, "rm", "-q", "escape")
    git(shop.repo, "commit", "-qm", "a folder instead")
    fill(shop.repo, {"escape/planted.log": "planted"})
    path = Path(shop.spaces.prepare(source).path)
    assert not (path / "away.log").is_symlink()
    assert (path / "near.log").readlink() == Path("README.md")
    assert [file.name for file in outside.iterdir()] == ["secret.log"]


def test_tracked_files_are_never_overwritten_by_copies(shop: GitRoom) -> None:
    fill(shop.repo, {"tracked.log": "committed"})
    git(shop.repo, "add", "-f", "tracked.log")
    git(shop.repo, "commit", "-qm", "a tracked log")
    source = shop.source(copy=("*.log",))
    git(shop.repo, "rm", "-q", "--cached", "tracked.log")
    fill(shop.repo, {"tracked.log": "mine"})
    path = Path(shop.spaces.prepare(source).path)
    assert (path / "tracked.log").read_text() == "committed"


def test_twelve_worktrees_are_made_by_four_processes_at_once(shop: GitRoom) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=prepare_three, args=(str(shop.root), first)) for first in (0, 3, 6, 9)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    for number in range(12):
        assert git(shop.prepare(f"p{number}")[1], "status", "--porcelain") == ""
    assert not list((shop.data / "locks").iterdir())


def test_what_is_no_repository_is_refused_with_what_to_do(tmp_path: Path, git_home: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(WorkspaceFault, match="is not inside a git repository"):
        find_root(plain)
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(WorkspaceFault, match="is a bare repository"):
        find_root(tmp_path / "bare.git")
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(WorkspaceFault, match="has no commit yet") as caught:
        head(GitRoom(tmp_path).spaces.places.git(tmp_path / "empty"))
    assert caught.value.next_step == 'create one: git add -A && git commit -m "Start"'


def test_the_default_branch_is_the_remotes_else_main(shop: GitRoom) -> None:
    git(shop.repo, "branch", "trunk")
    assert default_branch(shop.spaces.places.git(shop.repo)) == "main"
    git(shop.repo, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert default_branch(shop.spaces.places.git(shop.repo)) == "trunk"
    assert find_root(shop.repo / "src") == shop.repo


def test_a_commit_that_is_not_there_is_named(shop: GitRoom) -> None:
    with pytest.raises(WorkspaceFault, match="there is no commit `deadbeef`"):
        shop.spaces.prepare(shop.source(commit="deadbeef"))
    assert isinstance(shop.spaces, GitWorkspaces)

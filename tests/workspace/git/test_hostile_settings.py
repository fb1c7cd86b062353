"""Whatever a repository configures, nothing of it runs: all settings that start something, all that we do with git."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.ports.delivery import Retention
from handrail.workspace.delivery.apply import undo_apply
from handrail.workspace.delivery.discard import discard
from handrail.workspace.git_repositories import GitRepositories
from support.security.hostile_git import FILTERED, add_nested, make_hostile, traces
from support.workspace.git_room import GitRoom, commit, fill, git


@pytest.fixture
def loot(tmp_path: Path) -> Path:
    folder = tmp_path / "loot"
    folder.mkdir()
    return folder


@pytest.fixture
def hostile(shop: GitRoom, loot: Path) -> GitRoom:
    """A repository with all of it, with a branch that conflicts and attributes that name drivers and filters."""
    commit(shop.repo, _gitattributes="*.py diff=evil merge=evil\n")
    git(shop.repo, "switch", "-qc", "theirs", "HEAD~1")
    commit(shop.repo, src__app_py="theirs\n", theirs_txt="t")
    git(shop.repo, "switch", "-q", "main")
    make_hostile(shop.repo / ".git", loot)
    return shop


def _reads(room: GitRoom) -> None:
    known = GitRepositories(room.data)
    assert known.is_repository(room.repo)
    assert known.head(room.repo).branch == known.current_branch(room.repo) == known.default_branch(room.repo) == "main"
    fill(room.repo, {"src/app.py": "mine\n"})
    assert known.list_uncommitted(room.repo) == ("src/app.py",)
    assert known.commit_of(room.repo, "theirs") == known.branch_commit(room.repo, "theirs")
    assert known.count_commits(room.repo, "main~1", "theirs") == 1
    assert known.filter_ignored_folders(room.repo, ["build", "src"]) == ("build",)
    assert known.list_ignored_files(room.repo, ["*.log"]) == ()


def _steps(room: GitRoom) -> None:
    tree, path = room.prepare()
    first = room.spaces.snapshot(tree, "r1")
    fill(path, {"src/app.py": "changed\n", "new.py": "n\n"})
    room.spaces.snapshot(tree, "r1", first.id)
    assert "+changed" in room.spaces.diff(tree, first.id)
    room.spaces.restore(tree, "r1", first.id)
    fill(path, {"src/app.py": "ours\n"})
    room.spaces.commit(tree, "work")
    fill(path, {"README.md": "part\n", "left.txt": "l"})
    room.spaces.commit(tree, "part", ("README.md",))
    room.spaces.commit_before_merge(tree, "all")
    room.spaces.merge(tree, "theirs", "Merge", markers=True)
    fill(path, {"src/app.py": "both\n"})
    room.spaces.conclude(tree, "Merge")


def _delivers(room: GitRoom) -> None:
    tree, path = room.prepare()
    room.spaces.snapshot(tree, "r1")
    fill(path, {"src/app.py": "changed\n", "new.py": "n\n"})
    assert room.spaces.apply_to_checkout(tree, "r1")
    assert room.spaces.find_last_applied(room.repo, ["r1"]) == "r1"
    undo_apply(room.spaces.places, tree, "r1")
    room.spaces.commit(tree, "work")
    git(room.repo, "-c", "core.hooksPath=/dev/null", "symbolic-ref", "HEAD", "refs/heads/theirs")
    room.spaces.merge_into_base(tree, "Merge")
    room.spaces.survey_leftovers(lambda _: "over", [str(room.repo)], Retention(lambda _: 30, 0.0))
    room.spaces.discard(tree, "r1")


def _takes_along(room: GitRoom) -> None:
    fill(room.repo, {"src/app.py": "mine\n", "loose.py": "l"})
    taken = room.spaces.snapshot(room.borrowed(), "r0")
    tree = room.spaces.prepare(room.source("r1", changes=taken.id, merge=(git(room.repo, "rev-parse", "theirs"),)))
    assert Path(tree.path, "loose.py").exists()
    room.spaces.throw_away(room.repo, "r1")


OPERATIONS: dict[str, Callable[[GitRoom], None]] = {
    "looking at a repository": _reads,
    "the steps of a run": _steps,
    "delivering": _delivers,
}


def test_git_itself_would_start_them(hostile: GitRoom, loot: Path) -> None:
    fill(hostile.repo, {"src/app.py": "mine\n", ".git/info/attributes": FILTERED})
    for words in (
        ("status",),
        ("diff",),
        ("add", "-A"),
        ("stash", "-q"),
        ("-c", "core.fsmonitor=", "checkout", "-q", "."),
    ):
        subprocess.run(["git", *words], cwd=hostile.repo, check=False, capture_output=True)
    assert {"include", "diff.evil.command", "filter.evil.process", "hook.post-index-change"} <= set(traces(loot))


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_that_a_repository_configures_is_started(hostile: GitRoom, loot: Path, name: str) -> None:
    _cleared(loot)
    OPERATIONS[name](hostile)
    assert traces(loot) == []


def test_nothing_is_started_when_changes_are_taken_along(shop: GitRoom, loot: Path) -> None:
    commit(shop.repo, _gitattributes="*.py diff=evil merge=evil\n")
    git(shop.repo, "switch", "-qc", "theirs")
    commit(shop.repo, theirs_txt="t")
    git(shop.repo, "switch", "-q", "main")
    make_hostile(shop.repo / ".git", loot)
    _cleared(loot)
    _takes_along(shop)
    assert traces(loot) == []


def test_settings_that_come_after_the_worktree_was_made_are_not_obeyed_either(shop: GitRoom, loot: Path) -> None:
    tree, path = shop.prepare()
    first = shop.spaces.snapshot(tree, "r1")
    make_hostile(shop.repo / ".git", loot)
    git(path, "config", "extensions.worktreeConfig", "true")
    entry = next((shop.repo / ".git/worktrees").iterdir())
    (entry / "config.worktree").write_text((shop.repo / ".git/config").read_text())
    _cleared(loot)
    fill(path, {"src/app.py": "changed\n", ".gitattributes": FILTERED})
    second = shop.spaces.snapshot(tree, "r1", first.id)
    shop.spaces.restore(tree, "r1", first.id)
    shop.spaces.restore(tree, "r1", second.id)
    with pytest.raises(WorkspaceFault, match="would be stored unfiltered"):
        shop.spaces.commit(tree, "work")
    with pytest.raises(WorkspaceFault, match="would be stored unfiltered"):
        shop.spaces.apply_to_checkout(tree, "r1")
    discard(shop.spaces.places, tree, "r1")
    assert traces(loot) == []


def test_what_a_filter_would_convert_is_kept_and_given_back_and_starts_nothing(shop: GitRoom, loot: Path) -> None:
    make_hostile(shop.repo / ".git", loot, attributes=FILTERED)
    _cleared(loot)
    tree, path = shop.prepare()
    first = shop.spaces.snapshot(tree, "r1")
    fill(path, {"src/app.py": "changed\r\n", "new.py": "n\n"})
    second = shop.spaces.snapshot(tree, "r1", first.id)
    assert "+changed" in shop.spaces.diff(tree, first.id)
    shop.spaces.restore(tree, "r1", first.id)
    shop.spaces.restore(tree, "r1", second.id)
    assert (path / "src/app.py").read_bytes() == b"changed\r\n"
    for deliver in (lambda: shop.spaces.commit(tree, "work"), lambda: shop.spaces.apply_to_checkout(tree, "r1")):
        with pytest.raises(WorkspaceFault, match="the filter 'evil'"):
            deliver()
    assert traces(loot) == []


def test_a_nested_repository_is_looked_into_and_starts_nothing(shop: GitRoom, loot: Path) -> None:
    tree, path = shop.prepare()
    first = shop.spaces.snapshot(tree, "r1")
    _shell(path, add_nested(path / "sub", loot))
    _cleared(loot)
    taken = shop.spaces.snapshot(tree, "r1", first.id)
    assert taken.omitted == ("sub: changes inside a submodule",)
    with pytest.raises(WorkspaceFault, match="a backup ref cannot hold"):
        discard(shop.spaces.places, tree, "r1")
    assert traces(loot) == []


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_in_a_nested_repository_hide_no_work(shop: GitRoom, loot: Path, flag: str) -> None:
    tree, path = shop.prepare()
    git(path, "init", "-q", "sub")
    commit(path / "sub", f="one")
    git(path, "add", "sub")
    assert shop.spaces.snapshot(tree, "r1").omitted == ()
    git(path / "sub", "update-index", flag, "f")
    fill(path / "sub", {"f": "two"})
    assert shop.spaces.snapshot(tree, "r1").omitted == ("sub: changes inside a submodule",)


@pytest.mark.parametrize("base", ["missing", "HEAD"])
def test_what_a_partial_clone_lacks_is_not_fetched_by_its_settings(shop: GitRoom, loot: Path, base: str) -> None:
    git(shop.repo, "config", "uploadpack.allowFilter", "true")
    git(shop.repo, "switch", "-qc", "missing")
    commit(shop.repo, other_txt="only there\n")
    git(shop.repo, "switch", "-q", "main")
    git(shop.root, "clone", "-q", "--filter=blob:none", f"file://{shop.repo}", "partial")
    partial = GitRoom(shop.root / "room")
    partial.root.mkdir()
    (shop.root / "partial").rename(partial.repo)
    commit_there = git(partial.repo, "rev-parse", "origin/missing" if base == "missing" else "HEAD")
    make_hostile(partial.repo / ".git", loot, promisor=True)
    _cleared(loot)
    if base == "missing":
        with pytest.raises(WorkspaceFault):
            partial.spaces.prepare(partial.source("r1", commit=commit_there))
    else:
        tree = partial.spaces.prepare(partial.source("r1", commit=commit_there))
        fill(Path(tree.path), {"README.md": "changed\n"})
        partial.spaces.snapshot(tree, "r1")
        assert partial.spaces.apply_to_checkout(tree, "r1") == ("README.md",)
    assert traces(loot) == []


def _cleared(loot: Path) -> None:
    """Forget what the test's own commands started."""
    for path in loot.iterdir():
        path.unlink()


def _shell(where: Path, script: str) -> None:
    subprocess.run(["/bin/sh", "-c", script], cwd=where, check=True, capture_output=True)

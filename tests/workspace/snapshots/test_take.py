"""A snapshot holds files, index, HEAD and branch; restoring brings all of them back and loses nothing."""

import os
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.delivery.discard import discard
from support.workspace.git_room import GitRoom, commit, everything, fill, git, listing


def test_untracked_files_modes_links_index_and_head_come_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"staged.txt": "staged", "loose.txt": "loose", "tool.sh": "#!/bin/sh\n", "noise.log": "ignored"})
    (path / "tool.sh").chmod(0o755)
    (path / "link").symlink_to("nowhere/at all")
    git(path, "add", "staged.txt")
    fill(path, {"staged.txt": "staged and changed"})
    (path / "README.md").unlink()
    before = everything(path)
    taken = shop.spaces.snapshot(tree, "r1")
    fill(path, {"README.md": "other", "loose.txt": "LOOSE", "added/deep.txt": "x", "noise.log": "newer"})
    (path / "tool.sh").chmod(0o644)
    (path / "link").unlink()
    git(path, "add", "-A")
    git(path, "commit", "-qm", "the agent commits")
    shop.spaces.restore(tree, "r1", taken.id)
    assert (path / "noise.log").read_text() == "newer"
    (path / "noise.log").write_text("ignored")
    assert everything(path) == before


def test_an_unchanged_tree_gives_the_same_snapshot(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"a.txt": "a"})
    first = shop.spaces.snapshot(tree, "r1")
    os.utime(path / "README.md")
    assert shop.spaces.snapshot(tree, "r1") == first
    fill(path, {"a.txt": "b"})
    second = shop.spaces.snapshot(tree, "r1")
    assert second.id != first.id
    assert git(shop.repo, "rev-parse", "refs/handrail/r1") == second.id
    assert git(shop.repo, "rev-parse", "refs/handrail/r1^") == first.id


def test_files_that_were_only_looked_at_are_in_the_next_snapshot(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    first = shop.spaces.snapshot(tree, "r1")
    fill(path, {"a.txt": "a"})
    assert [each.path for each in shop.spaces.changes(tree, first.id)] == ["a.txt"]
    second = shop.spaces.snapshot(tree, "r1")
    assert git(path, "show", f"{second.id}:a.txt") == "a"
    (path / "a.txt").unlink()
    assert shop.spaces.changes(tree, first.id) == ()
    assert shop.spaces.snapshot(tree, "r1").tree == first.tree
    other = shop.spaces.snapshot(tree, "r2")
    assert (other.tree, other.id != first.id) == (first.tree, True)


def test_equal_files_have_equal_trees(shop: GitRoom) -> None:
    one, path = shop.prepare("r1")
    two, other = shop.prepare("r2")
    fill(path, {"a.txt": "a"})
    fill(other, {"a.txt": "a"})
    git(other, "add", "-A")
    assert shop.spaces.snapshot(one, "r1").tree == shop.spaces.snapshot(two, "r2").tree


def test_a_change_of_the_same_length_in_the_same_instant_is_seen(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    seen: set[str] = set()
    for number in range(8):
        fill(path, {"README.md": f"hell{number}\n", "new.txt": f"{number}"})
        seen.add(shop.spaces.snapshot(tree, "r1").tree)
    assert len(seen) == 8


def test_a_file_that_becomes_ignored_leaves_the_snapshots(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"cache/a.bin": "a"})
    assert "cache/a.bin" in _names(shop, shop.spaces.snapshot(tree, "r1").id)
    fill(path, {"cache/.gitignore": "*\n"})
    assert "cache/a.bin" not in _names(shop, shop.spaces.snapshot(tree, "r1").id)


def test_an_ignored_file_that_is_tracked_is_in_the_snapshot(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    shop.spaces.snapshot(tree, "r1")
    fill(path, {"forced.log": "tracked"})
    git(path, "add", "-f", "forced.log")
    before = everything(path)
    taken = shop.spaces.snapshot(tree, "r1")
    git(path, "rm", "-qf", "forced.log")
    shop.spaces.restore(tree, "r1", taken.id)
    assert everything(path) == before


def test_unusual_names_and_bytes_come_back(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    names = [
        b"new\nline",
        b'quo"te',
        b"back\\slash",
        b"tab\t",
        b"caf\xe9",
        b" space ",
        b"-dash",
        "ünï".encode(),
        b"*?[x]",
    ]
    for name in names:
        (path / os.fsdecode(name)).write_bytes(b"\r\n\0\xff" + name)
    before = everything(path)
    taken = shop.spaces.snapshot(tree, "r1")
    for name in names:
        (path / os.fsdecode(name)).unlink()
    shop.spaces.restore(tree, "r1", taken.id)
    assert everything(path) == before


def test_line_ends_come_back_as_they_were(shop: GitRoom) -> None:
    git(shop.repo, "config", "core.autocrlf", "true")
    git(shop.repo, "config", "core.safecrlf", "true")
    tree, path = shop.prepare()
    fill(path, {"dos.txt": "a\r\nb\r\n", "binary.dat": "a\0\r\n\n"})
    before = listing(path)
    taken = shop.spaces.snapshot(tree, "r1")
    fill(path, {"dos.txt": "x\r\n", "binary.dat": "y", "README.md": "z\r\n"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert listing(path) == before


def test_carriage_returns_come_back_without_any_conversion(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    fill(path, {"mixed.txt": "a\r\nb\nc\r"})
    before = listing(path)
    taken = shop.spaces.snapshot(tree, "r1")
    fill(path, {"mixed.txt": ""})
    shop.spaces.restore(tree, "r1", taken.id)
    assert listing(path) == before


def test_clean_and_smudge_filters_of_the_user_are_applied_both_ways(shop: GitRoom) -> None:
    git(shop.repo, "config", "--global", "filter.shout.clean", "tr a-z A-Z")
    git(shop.repo, "config", "--global", "filter.shout.smudge", "tr A-Z a-z")
    commit(shop.repo, _gitattributes="*.quiet filter=shout\n", one_quiet="hello\n")
    tree, path = shop.prepare()
    fill(path, {"two.quiet": "again\n"})
    before = listing(path)
    taken = shop.spaces.snapshot(tree, "r1")
    assert git(shop.repo, "show", f"{taken.id}:two.quiet") == "AGAIN"
    fill(path, {"one.quiet": "changed\n"})
    (path / "two.quiet").unlink()
    shop.spaces.restore(tree, "r1", taken.id)
    assert listing(path) == before


def test_nested_repositories_and_empty_folders_are_named_and_left_alone(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    for name in ("vendor/lib", "fresh"):
        (path / name).mkdir(parents=True)
        git(path / name, "init", "-q")
        fill(path / name, {"x.txt": "x"})
    git(path / "vendor/lib", "add", "-A")
    git(path / "vendor/lib", "commit", "-qm", "nested")
    (path / "empty/deep").mkdir(parents=True)
    fill(path, {"logs/only.log": "ignored"})
    taken = shop.spaces.snapshot(tree, "r1")
    assert taken.omitted == (
        "fresh/: a repository of its own",
        "vendor/lib/: a repository of its own",
        "empty/: an empty folder",
    )
    fill(path, {"more.txt": "more"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert (path / "vendor/lib/x.txt").exists()
    assert (path / "fresh/.git").is_dir()
    with pytest.raises(WorkspaceFault, match="a backup ref cannot hold"):
        discard(shop.spaces.places, tree, "r1")


@pytest.mark.parametrize("folders", [3, 200])
def test_an_empty_folder_is_named_among_few_and_among_many(shop: GitRoom, folders: int) -> None:
    tree, path = shop.prepare()
    fill(path, {f"d{number}/x.txt": "x" for number in range(folders)})
    assert shop.spaces.snapshot(tree, "r1").omitted == ()
    (path / "d1/none").mkdir()
    assert shop.spaces.snapshot(tree, "r1").omitted == ("d1/none/: an empty folder",)
    (path / "d1/none/now.txt").write_text("some")
    assert shop.spaces.snapshot(tree, "r1").omitted == ()


def test_dirt_in_a_submodule_is_named_and_its_commit_is_kept(shop: GitRoom) -> None:
    library = shop.root / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    first = commit(library, lib_txt="1")
    git(shop.repo, "submodule", "--quiet", "add", str(library), "lib")
    git(shop.repo, "commit", "-qm", "with a submodule")
    tree, path = shop.prepare()
    assert shop.spaces.snapshot(tree, "r1").omitted == ()
    git(path, "submodule", "--quiet", "update", "--init")
    fill(path / "lib", {"lib.txt": "dirty"})
    taken = shop.spaces.snapshot(tree, "r1")
    assert taken.omitted == ("lib: changes inside a submodule",)
    assert git(shop.repo, "rev-parse", f"{taken.id}:lib") == first
    fill(path, {"a.txt": "a"})
    shop.spaces.restore(tree, "r1", taken.id)
    assert (path / "lib/lib.txt").read_text() == "dirty"
    with pytest.raises(WorkspaceFault):
        discard(shop.spaces.places, tree, "r1")
    git(path / "lib", "checkout", "-q", ".")
    discard(shop.spaces.places, tree, "r1")
    assert not path.exists()


def test_garbage_collection_keeps_every_snapshot(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    states: list[tuple[str, tuple[object, ...]]] = []
    for number in range(3):
        fill(path, {f"{number}.txt": f"{number}", "README.md": f"{number}\n"})
        git(path, "add", f"{number}.txt")
        if number == 1:
            git(path, "commit", "-qm", "one")
        states.append((shop.spaces.snapshot(tree, "r1").id, everything(path)))
    git(path, "reset", "-q", "--hard", "main")
    git(shop.repo, "reflog", "expire", "--expire=now", "--all")
    git(shop.repo, "gc", "-q", "--prune=now")
    for snapshot, state in states:
        shop.spaces.restore(tree, "r1", snapshot)
        assert everything(path) == state


def test_a_borrowed_tree_is_snapshotted_and_never_restored_or_committed(shop: GitRoom) -> None:
    fill(shop.repo, {"README.md": "mine\n", "new.txt": "new"})
    git(shop.repo, "add", "new.txt")
    index = (shop.repo / ".git/index").read_bytes()
    before = everything(shop.repo)
    tree = shop.borrowed()
    taken = shop.spaces.snapshot(tree, "r9")
    assert git(shop.repo, "show", f"{taken.id}:README.md") == "mine"
    fill(shop.repo, {"README.md": "mine again\n"})
    for forbidden in (
        lambda: shop.spaces.restore(tree, "r9", taken.id),
        lambda: shop.spaces.commit(tree, "no"),
        lambda: discard(shop.spaces.places, tree, "r9"),
    ):
        with pytest.raises(WorkspaceFault, match="the user's own checkout"):
            forbidden()
    assert (shop.repo / "README.md").read_text() == "mine again\n"
    fill(shop.repo, {"README.md": "mine\n"})
    assert (shop.repo / ".git/index").read_bytes() == index
    assert everything(shop.repo) == before


def test_a_checkout_without_a_commit_can_be_snapshotted(tmp_path: Path, git_home: Path) -> None:
    room = GitRoom(tmp_path)
    room.repo.mkdir()
    git(room.repo, "init", "-q", "-b", "main")
    fill(room.repo, {"a.txt": "a"})
    unborn = Tree(path=str(room.repo), repository=str(room.repo), branch="main", base="main", commit="", owned=False)
    shot = room.spaces.snapshot(unborn, "r1")
    assert shot.head == ""
    assert git(room.repo, "show", f"{shot.id}:a.txt") == "a"


def test_names_of_runs_are_safe_for_refs_and_folders(shop: GitRoom) -> None:
    for run in ("kept", "a/b", "../up", "x.lock", "ümlaut", "-dash"):
        tree = shop.spaces.prepare(shop.source(run, branch="work/odd"))
        assert Path(tree.path).parent.parent == shop.data / "worktrees"
        shop.spaces.snapshot(tree, run)
    assert len(shop.refs("refs/handrail/owned/")) == 6


def _names(shop: GitRoom, snapshot: str) -> list[str]:
    return git(shop.repo, "ls-tree", "-r", "--name-only", snapshot).splitlines()

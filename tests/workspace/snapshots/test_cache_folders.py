"""A new folder that marks itself as a cache, and ignores itself, is no change of a step; it is named instead."""

import subprocess
import sys
from pathlib import Path

import pytest

from handrail.model.history.trees import Tree
from handrail.workspace.delivery.apply import apply_to_checkout
from handrail.workspace.git.data_places import DataLayout
from support.workspace.git_room import GitRoom, commit, fill, git

TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a tool\n"
CACHE = {"CACHEDIR.TAG": TAG, ".gitignore": "# Created by a tool.\n*\n", "deep/data": "1"}
ENVIRONMENT = {"pyvenv.cfg": "home = /usr/bin\n", ".gitignore": "*", "bin/python": "#!"}


def _put(where: Path, folder: str, files: dict[str, str]) -> None:
    fill(where, {f"{folder}/{name}": text for name, text in files.items()})


def _began(room: GitRoom) -> tuple[Tree, Path, str]:
    """A work tree that is looked at by the rules of a snapshot, as it is while a step works."""
    tree, where = room.prepare()
    before = room.spaces.snapshot(tree, "r1").id
    room.spaces.snapshot(tree, "r1", before)
    return tree, where, before


def _standing(room: GitRoom, tree: Tree, before: str) -> list[str]:
    return [each.path for each in room.spaces.changes(tree, before)]


def _changed(room: GitRoom, files: dict[str, str], folder: str = "cache") -> tuple[list[str], tuple[str, ...]]:
    tree, where, before = _began(room)
    _put(where, folder, files)
    after = room.spaces.snapshot(tree, "r1", before)
    standing = _standing(room, tree, before)
    assert standing == [each.path for each in room.spaces.changes(tree, before, after.id)]
    assert room.spaces.snapshot(tree, "r1", before) == after
    return standing, after.omitted


HYPOTHESIS = {
    ".gitignore": "# This .gitignore file was automatically created by Hypothesis.\n\n*\n",
    "examples/1/2": "x",
}
REPORT = {".gitignore": "# Created by coverage.py\n*\n", "index.html": ""}


@pytest.mark.parametrize(
    "files", [CACHE, ENVIRONMENT, HYPOTHESIS, REPORT], ids=["cache", "environment", "hypothesis", "coverage"]
)
@pytest.mark.parametrize("folder", [".cache", "src/with space/[x]"])
def test_a_new_cache_folder_is_named_and_not_taken(shop: GitRoom, files: dict[str, str], folder: str) -> None:
    assert _changed(shop, files, folder) == ([], (f"{folder}/: a cache that ignores itself",))


def test_a_cache_inside_a_cache_is_named_once(shop: GitRoom) -> None:
    inner = {f"lib/{name}": text for name, text in CACHE.items()}
    assert _changed(shop, ENVIRONMENT | inner) == ([], ("cache/: a cache that ignores itself",))


@pytest.mark.parametrize(
    "changed",
    [
        {"CACHEDIR.TAG": "Signature: 0"},
        {".gitignore": "*\n!data\n"},
        {".gitignore": "deep\n"},
        {".gitignore": ""},
    ],
)
def test_a_folder_with_other_marks_is_taken(shop: GitRoom, changed: dict[str, str]) -> None:
    found, omitted = _changed(shop, CACHE | changed)
    assert "cache/deep/data" in found
    assert not omitted


@pytest.mark.parametrize("mark", ["CACHEDIR.TAG", ".gitignore"])
def test_a_link_is_no_mark(shop: GitRoom, mark: str) -> None:
    tree, where, before = _began(shop)
    _put(where, "cache", CACHE)
    (where / "cache" / mark).rename(where / "elsewhere")
    (where / "cache" / mark).symlink_to("../elsewhere")
    assert "cache/deep/data" in _standing(shop, tree, before)


def test_the_root_is_never_a_cache(shop: GitRoom) -> None:
    tree, where, before = _began(shop)
    fill(where, CACHE)
    assert "deep/data" in _standing(shop, tree, before)


def test_marks_hide_nothing_in_a_folder_of_the_base(shop: GitRoom) -> None:
    found, omitted = _changed(shop, CACHE | {"conftest.py": ""}, "src")
    assert {"src/conftest.py", "src/.gitignore", "src/CACHEDIR.TAG"} <= set(found)
    assert not omitted


def test_a_folder_whose_marks_come_later_is_let_go(shop: GitRoom) -> None:
    tree, where, before = _began(shop)
    for name in (".gitignore", "deep/data"):
        _put(where, "cache", {name: CACHE[name]})
        assert f"cache/{name}" in _standing(shop, tree, before)
    _put(where, "cache", CACHE)
    assert not _standing(shop, tree, before)
    (where / "cache/CACHEDIR.TAG").unlink()
    assert "cache/deep/data" in _standing(shop, tree, before)


def test_a_file_of_a_cache_that_is_added_by_force_is_taken(shop: GitRoom) -> None:
    tree, where, before = _began(shop)
    _put(where, "cache", CACHE)
    git(where, "add", "-f", "cache/deep/data")
    assert _standing(shop, tree, before) == ["cache/deep/data"]


def test_what_hypothesis_leaves_is_no_change(shop: GitRoom) -> None:
    tree, where, before = _began(shop)
    begin = "from hypothesis import given, strategies\n@given(strategies.integers())\n"
    test = begin + "def test(n): assert n < 1000\ntest()\n"
    # Where it finds the variables of a continuous integration, it keeps no examples.
    plain = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-B", "-c", test], cwd=where, check=False, capture_output=True, env=plain)
    assert done.returncode == 1, done.stderr.decode()
    assert list((where / ".hypothesis/examples").iterdir())
    assert not _standing(shop, tree, before)


def test_a_folder_that_only_ignores_itself_is_taken(shop: GitRoom) -> None:
    found, omitted = _changed(shop, {".gitignore": "# Created by somebody\n*\n", "conftest.py": ""})
    assert (found, omitted) == (["cache/.gitignore", "cache/conftest.py"], ())


def test_what_pytest_leaves_is_neither_shown_nor_committed_nor_applied(shop: GitRoom) -> None:
    fill(shop.repo, {"tests/test_it.py": "def test_it(): pass\n"})
    commit(shop.repo)
    tree, where, before = _began(shop)
    words = (sys.executable, "-B", "-m", "pytest", "-q", "--rootdir", ".", "tests")
    subprocess.run(words, cwd=where, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin"})
    fill(where, {"src/new.py": "1\n"})
    assert (where / ".pytest_cache/CACHEDIR.TAG").exists()
    after = shop.spaces.snapshot(tree, "r1", before)
    assert after.omitted == (".pytest_cache/: a cache that ignores itself",)
    assert ".pytest_cache" not in shop.spaces.diff(tree, before)
    made = shop.spaces.commit(tree, "Work")
    assert git(where, "show", "--name-only", "--format=", made) == "src/new.py"
    apply_to_checkout(DataLayout(shop.data), tree, "r1")
    assert (shop.repo / "src/new.py").exists()
    assert not (shop.repo / ".pytest_cache").exists()

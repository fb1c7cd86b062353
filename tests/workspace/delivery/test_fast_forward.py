"""A checkout that is moved forward: a crash at any point leaves something from which the next merge goes on."""

import json
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.ports.workspaces import Merged
from handrail.workspace.delivery.deliver import merge_into_base
from support.workspace.git_room import GitRoom, commit, fill, git


@pytest.fixture
def ready(shop: GitRoom) -> tuple[GitRoom, str, str]:
    """A room whose run's branch is ahead of its base, with the commits of both."""
    _, path = shop.prepare()
    (path / ".gitignore").unlink()
    new = commit(path, a_txt="all of a\n", README_md="a longer text\n")
    return shop, git(shop.repo, "rev-parse", "main"), new


def begun(shop: GitRoom, old: str, new: str) -> None:
    """Note a move that a killed process had begun."""
    note = shop.spaces.places.private_folder(shop.repo) / "fast-forward.json"
    note.write_text(json.dumps({"branch": "main", "old": old, "new": new}))


def written(shop: GitRoom, name: str) -> None:
    """Bring the checkout to where a killed git may have left it."""
    if name == "nothing":
        return
    fill(shop.repo, {"a.txt": "all "})
    if name != "a part of one file":
        fill(shop.repo, {"a.txt": "all of a\n", "README.md": "a lon"})
        (shop.repo / ".gitignore").unlink()
        (Path(git(shop.repo, "rev-parse", "--absolute-git-dir")) / "index.lock").write_bytes(b"")
    if name in {"all files", "the index"}:
        fill(shop.repo, {"README.md": "a longer text\n"})
    if name == "the index":
        (shop.repo / ".git/index.lock").unlink()
        git(shop.repo, "read-tree", "work/r1")


@pytest.mark.parametrize("name", ["nothing", "a part of one file", "parts of several", "all files", "the index"])
def test_a_merge_that_was_cut_off_is_completed_by_the_next(ready: tuple[GitRoom, str, str], name: str) -> None:
    shop, old, new = ready
    tree = shop.prepare()[0]
    begun(shop, old, new)
    written(shop, name)
    assert merge_into_base(shop.spaces.places, tree, "Merge") == Merged(new)
    assert git(shop.repo, "rev-parse", "main") == new
    assert git(shop.repo, "status", "--porcelain") == ""
    assert (shop.repo / "README.md").read_text() == "a longer text\n"


def test_what_was_edited_after_the_cut_is_not_overwritten(ready: tuple[GitRoom, str, str]) -> None:
    shop, old, new = ready
    tree = shop.prepare()[0]
    begun(shop, old, new)
    fill(shop.repo, {"a.txt": "all of a\n", "README.md": "my own words\n"})
    with pytest.raises(WorkspaceFault, match=r"was interrupted, and these files were edited since: README\.md"):
        merge_into_base(shop.spaces.places, tree, "Merge")
    assert (shop.repo / "README.md").read_text() == "my own words\n"

"""What an agent hid from git is applied, committed, merged and kept like anything else that it changed."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.delivery.apply import apply_to_checkout
from handrail.workspace.git.data_places import DataLayout
from support.security.hidden_changes import FILES, FORGED, WAYS
from support.workspace.git_room import GitRoom, commit, fill, git

FILE_WAYS = [way for way in WAYS if way != "hides it in a repository of its own"]
"""No snapshot holds the files of a nested repository: that they changed is listed, and they are never delivered."""
FILTERED = "filters it"
CONVERTED = ("converts it by attributes", "converts it by attributes of git's folder")
"""The checkout of a person obeys the attributes that are in force there, as it does after a merge."""


@pytest.fixture
def tested(shop: GitRoom) -> GitRoom:
    fill(shop.repo, FILES)
    commit(shop.repo)
    return shop


def _work(room: GitRoom, way: str) -> tuple[Tree, Path, str]:
    """Let an agent change a file and hide that; gives the snapshot after its step too."""
    tree, where = room.prepare()
    before = room.spaces.snapshot(tree, "r1")
    env = {**os.environ, "FORGED": FORGED}
    done = subprocess.run(["/bin/sh", "-c", WAYS[way][0]], cwd=where, env=env, check=False, capture_output=True)
    assert not done.returncode, done.stderr.decode()
    return tree, where, room.spaces.snapshot(tree, "r1", before.id).id


def _stands(path: Path) -> tuple[bytes, int] | None:
    """What a file is; None where there is none."""
    return (path.read_bytes(), path.stat().st_mode & 0o111) if path.exists() else None


def test_what_a_filter_of_the_repository_would_hide_is_seen_and_not_delivered(tested: GitRoom) -> None:
    tree, _, snapshot = _work(tested, FILTERED)
    assert WAYS[FILTERED][1] in [each.path for each in tested.spaces.changes(tree, tree.commit, snapshot)]
    git(tested.repo, "checkout", "-q", "--detach")
    for deliver in (
        lambda: apply_to_checkout(DataLayout(tested.data), tree, "r1"),
        lambda: tested.spaces.commit(tree, "Work"),
    ):
        with pytest.raises(WorkspaceFault, match="would be stored unfiltered"):
            deliver()


@pytest.mark.parametrize("way", [way for way in FILE_WAYS if way != FILTERED])
def test_what_was_hidden_is_seen_applied_merged_and_kept(tested: GitRoom, way: str) -> None:
    tree, where, snapshot = _work(tested, way)
    path = WAYS[way][1]
    stood = _stands(where / path)
    # By this `diff`, `compare` and approvals tell what a run changed.
    assert path in [each.path for each in tested.spaces.changes(tree, tree.commit, snapshot)]
    kept = git(tested.repo, "ls-tree", snapshot, path)
    assert (git(where, "hash-object", "--no-filters", path) if stood else "") in kept
    assert path in apply_to_checkout(DataLayout(tested.data), tree, "r1").files
    assert way in CONVERTED or _stands(tested.repo / path) == stood
    git(tested.repo, "checkout", "-q", "--detach")
    made = tested.spaces.commit(tree, "Work")
    assert git(tested.repo, "ls-tree", made, path) == kept
    tested.spaces.merge_into_base(tree, "Merge")
    assert git(tested.repo, "ls-tree", "main", path) == kept
    assert git(tested.repo, "ls-tree", tested.spaces.discard(tree, "r1"), path) == kept

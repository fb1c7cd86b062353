"""Killed at any git command, every operation can be done again and ends as if nothing had happened."""

import os
import shutil
from pathlib import Path

import pytest

from support.workspace.git_crashing import OPERATIONS, killed_at, set_up
from support.workspace.git_room import GitRoom, everything, fill, git, listing

pytestmark = pytest.mark.system  # takes long: many processes of its own

STRIDE = 1 if os.environ.get("HANDRAIL_SOAK") else 12
"""Every command is killed in the long campaign, every sixth, before or after it, otherwise."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_an_operation_that_was_killed_is_done_again(tmp_path: Path, git_home: Path, operation: str, when: str) -> None:
    template = GitRoom(tmp_path / "world")
    template.root.mkdir()
    set_up(template)
    _dirty(template, operation)
    saved = tmp_path / "saved"
    shutil.copytree(template.root, saved, symlinks=True)
    OPERATIONS[operation](template)
    expected = _world(template)
    for at in range(1 if when == "before" else 2, 80, STRIDE):
        shutil.rmtree(template.root)
        shutil.copytree(saved, template.root, symlinks=True)
        killed = killed_at(template, operation, at, when)
        OPERATIONS[operation](template)
        assert _world(template) == expected, f"killed {when} git command {at}"
        if not killed:
            assert at > 2
            return
    pytest.fail("it never came to its end")


def _dirty(room: GitRoom, operation: str) -> None:
    tree, path = room.prepare("r2")
    if operation == "merge_with_markers":
        fill(path, {"src/app.py": "ours\n"})
        room.spaces.commit(tree, "ours")
    elif operation != "merge":
        fill(path, {"precious.txt": "p", "README.md": "changed\n", "x.log": "ignored"})
        git(path, "switch", "-qc", "aside")


def _world(room: GitRoom) -> tuple[object, ...]:
    worktrees = {path: _state(path) for path in sorted((room.data / "worktrees").glob("*/*")) if path.is_dir()}
    admin = sorted(path.name for path in (room.repo / ".git/worktrees").glob("*"))
    branches = sorted(git(room.repo, "for-each-ref", "--format=%(refname) %(tree)", "refs/heads/").splitlines())
    kept = {git(room.repo, "rev-parse", f"{ref}^{{tree}}") for ref in room.refs("refs/handrail/kept/")}
    merging = sorted(path.parent.name for path in (room.repo / ".git/worktrees").glob("*/MERGE_HEAD"))
    locks = [path.name for path in (room.data / "locks").glob("*")] + list((room.repo / ".git").rglob("*.lock"))
    return worktrees, admin, branches, kept, merging, locks, listing(room.repo), _drafts(room)


def _state(path: Path) -> tuple[object, ...]:
    files, index, _, ref = everything(path)
    return files, index, ref, git(path, "log", "--format=%s"), git(path, "status", "--porcelain")


def _drafts(room: GitRoom) -> list[Path]:
    return [path for path in room.root.rglob("*") if path.name.endswith((".draft", ".handrail", ".lock"))]

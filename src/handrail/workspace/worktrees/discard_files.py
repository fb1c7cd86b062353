"""Removes a worktree that held nothing worth keeping, with its branch, its record and all refs about it."""

import contextlib
from pathlib import Path

from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import Places, plain
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.worktrees.make import owner_ref, remove_folder, remove_worktree
from handrail.workspace.worktrees.records import read_record, record_path


def throw_away(places: Places, repository: Path, run: str) -> None:
    """Remove what was made for a name, as far as it came; nothing of it is kept."""
    root = find_root(repository)
    common = common_dir(root)
    folder = places.worktrees(root, common)
    path, note = folder / plain(run), record_path(folder, run)
    with places.locked(path), places.locked(common) as lock:
        record = read_record(note)
        remove_worktree(path, common)
        remove_folder(places.private(path))
        if record is not None:
            _drop_branch(Git(root).holding(lock), record.branch, run)
        note.unlink(missing_ok=True)
    for left in (note.parent, folder):
        with contextlib.suppress(OSError):
            left.rmdir()


def _drop_branch(git: Git, branch: str, run: str) -> None:
    owner = owner_ref(run, branch)
    if git.asks("rev-parse", "--verify", "-q", owner) is None:
        return
    if any(one.name == branch for one in branches(git, f"refs/heads/{branch}")):
        git.out("branch", "-D", "--quiet", "--", branch)
    git.out("update-ref", "-d", owner)

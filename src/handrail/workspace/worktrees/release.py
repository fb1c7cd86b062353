"""Gives up worktrees that nobody needs any more: those in which nothing is but the newest commit of their branch.

It is moved aside before it is removed, so that nobody takes what is left of it for work, should we die meanwhile. The
record stays, as it does where somebody removes the folder by hand: `prepare` makes the worktree again, and what is
known of the settings of its repository is still compared. So do the branch and all snapshots.
"""

import os
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.git.folder_users import list_processes_in
from handrail.workspace.git.repositories import common_dir, find_root, git_dir
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.worktrees.records import WorktreeRecord, is_whole, record_of
from handrail.workspace.worktrees.remove import remove_files


def release(places: DataLayout, tree: Tree, run: str) -> bool:
    """Remove a worktree that holds nothing of its own; False where it stays."""
    path = Path(tree.path)
    record = record_of(places, path) if tree.owned else None
    if record is None or record.run != run or record.teardown:
        return False
    common = common_dir(find_root(Path(tree.repository)))
    with places.lock(path) as own:
        # Where the folder is gone, somebody may have died before the rest of it was.
        if os.path.lexists(path) and (not _is_committed(places, record, common, own) or list_processes_in(path)):
            return False
        with places.lock(common):
            remove_files(places, record, common)
    return True


def released_commit(places: DataLayout, tree: Tree, files: str) -> str:
    """Give the newest commit of the branch of a worktree that is gone; where it holds other files, work was lost."""
    git = places.git(find_root(Path(tree.repository)))
    branch = f"refs/heads/{tree.branch}"
    commit = git.query("rev-parse", "--verify", "-q", branch)
    if not commit or git.line("rev-parse", f"{commit}^{{tree}}") != files:
        message = f"the worktree {tree.path} is gone, and {tree.branch} does not contain its files"
        raise WorkspaceFault(message, next_step="put the folder back, or discard the run")
    return commit


def _is_committed(places: DataLayout, record: WorktreeRecord, common: Path, lock: int) -> bool:
    """Tell whether all that a worktree holds is the newest commit of its branch."""
    path = Path(record.path)
    if not record.ready or not is_whole(path, common) or (git_dir(path) / "locked").exists():
        return False
    private = PrivateIndex(places.git(path).with_locks(lock), places.private_folder(path))
    files, staged = private.follow()
    if files.omitted or staged.unmerged or private.list_ignored(("",)):
        return False
    newest = private.plain.line("rev-parse", f"refs/heads/{record.branch}", f"{files.head}^{{tree}}").split()
    return newest == [files.head, files.tree]

"""Discards the worktree and the branch of a run: first checks that this is possible, then saves everything.

The record of the worktree is removed last, so that an interrupted discard is found and finished.
"""

import os
import time
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.delivery.retention import RemovedWorktree, remember_removed
from handrail.workspace.git.command import Git, split
from handrail.workspace.git.data_places import DataLayout, safe_name
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.omitted import find_losses
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS, State, run_ref
from handrail.workspace.snapshots.take import capture, keep, keep_commit, list_kept_refs
from handrail.workspace.worktrees.records import WorktreeRecord, admin_folders, is_whole, record_of, require_own
from handrail.workspace.worktrees.remove import delete_branch, forget_record, remove_worktree, set_aside, tear_down


def require_discardable(places: DataLayout, tree: Tree, run: str) -> None:
    """Refuse what `discard` would refuse, and say what to do; changes nothing but the repository's object store."""
    record = _find_own_record(places, tree, run)
    root, path = _repository(tree, run), Path(tree.path)
    if record is None:
        return
    common = common_dir(root)
    _require_unlocked(path, common)
    _require_free_branch(places.git(root), record)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise WorkspaceFault(f"{path.parent} cannot be written to", next_step="check its permissions")
    if is_whole(path, common):
        with places.lock(path) as lock:
            _capture(places, tree, run, lock)


def discard(places: DataLayout, tree: Tree, run: str) -> str:
    """Remove a run's worktree and branch; return the ref that preserves both."""
    require_discardable(places, tree, run)
    record = _find_own_record(places, tree, run)
    root, path = find_root(Path(tree.repository)), Path(tree.path)
    if record is None:
        return _newest_ref(places.git(root), run)
    common = common_dir(root)
    ref = _keep(places, tree, run, common)
    if record.teardown and path.is_dir():
        # No lock is held while the commands run, so that nobody else has to wait.
        tear_down(places, record)
        ref = _keep(places, tree, run, common)
    with places.lock(path), places.lock(common) as lock:
        git = places.git(root).with_locks(lock)
        remove_worktree(places, record, common)
        tip = git.query("rev-parse", "--verify", "-q", f"refs/heads/{record.branch}")
        ref = (keep_commit(git, run, tip) if tip else "") or ref
        delete_branch(git, record)
        remember_removed(places, common, _collect_refs(git, record))
        forget_record(record)
        return ref


def set_files_aside(places: DataLayout, tree: Tree, run: str) -> str:
    """Give up a run's worktree without its repository; return the plain folder in which its files stay."""
    path = Path(tree.path)
    record = require_own(places, path, run)
    with places.lock(path):
        aside = set_aside(path)
        forget_record(record)
    return str(aside or "")


def _find_own_record(places: DataLayout, tree: Tree, run: str) -> WorktreeRecord | None:
    """Return the record of a run's worktree; None once it was discarded."""
    if not tree.owned:
        message = f"{tree.path} is the user's own checkout, which is never removed"
        raise WorkspaceFault(message, next_step="nothing needs to be done: the run only borrowed it")
    path = Path(tree.path)
    if not os.path.lexists(path) and record_of(places, path) is None:
        return None
    return require_own(places, path, run)


def _repository(tree: Tree, run: str) -> Path:
    """Return the repository, which is needed to save the work in it; one that was moved away is refused."""
    try:
        root = find_root(Path(tree.repository))
        common_dir(root)
    except WorkspaceFault as fault:
        message = f"the repository {tree.repository} no longer exists, so the work cannot be kept in it"
        step = (
            f"put it back, then try again; or: handrail discard {run} --set-aside, which leaves the files in a folder"
        )
        raise WorkspaceFault(message, next_step=step) from fault
    return root


def _require_unlocked(path: Path, common: Path) -> None:
    for entry in admin_folders(path, common):
        note = entry / "locked"
        if note.exists():
            why = note.read_text(encoding="utf-8", errors="replace").strip()
            message = f"the worktree {path} is locked" + (f": {why}" if why else "")
            raise WorkspaceFault(message, next_step=f"git worktree unlock {path}, then try again")


def _require_free_branch(git: Git, record: WorktreeRecord) -> None:
    found = [one for one in branches(git, f"refs/heads/{record.branch}") if one.name == record.branch]
    place = found[0].worktree if found else ""
    if place and Path(place).resolve() != Path(record.path).resolve():
        message = f"the branch {record.branch} is checked out in {place}, so it cannot be removed"
        raise WorkspaceFault(message, next_step=f"check out another branch there: git -C {place} switch -")


def _keep(places: DataLayout, tree: Tree, run: str, common: Path) -> str:
    """Save the files of a worktree under a ref; return the ref."""
    path = Path(tree.path)
    if not is_whole(path, common):
        return _newest_ref(places.git(find_root(Path(tree.repository))), run)
    with places.lock(path) as lock:
        return keep(places.git(path).with_locks(lock), _capture(places, tree, run, lock))


def _capture(places: DataLayout, tree: Tree, run: str, lock: int) -> State:
    path = Path(tree.path)
    git = places.git(path).with_locks(lock)
    state = capture(PrivateIndex(git, places.private_folder(path)), tree, run)
    lost = find_losses(state.omitted)
    if lost:
        message = f"{path} contains work that a backup ref cannot hold: {'; '.join(lost)}"
        raise WorkspaceFault(message, next_step="move it elsewhere, then try again", files=lost)
    return state


def _newest_ref(git: Git, run: str) -> str:
    kept = list_kept_refs(git, run)
    if kept:
        return kept[-1][0]
    return run_ref(run) if git.query("rev-parse", "--verify", "-q", run_ref(run)) else ""


def _collect_refs(git: Git, record: WorktreeRecord) -> RemovedWorktree:
    """Describe every ref that preserves something of a run, with its current commit."""
    name = safe_name(record.run)
    places = (f"{REFS}{name}", f"{REFS}kept/{name}/", f"{REFS}applied/{name}")
    rows = split(git.out("for-each-ref", "--format=%(refname)%00%(objectname)%00", *places))
    texts = [os.fsdecode(row).strip("\n") for row in rows]
    refs = {ref: commit for ref, commit in zip(texts[::2], texts[1::2], strict=False) if ref}
    return RemovedWorktree(
        run=record.run,
        repository=record.repository,
        base=record.base,
        commit=record.commit,
        start=record.start,
        refs=refs,
        at=time.time(),
    )

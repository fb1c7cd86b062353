"""What becomes of a run's branch: merged into its base without a checkout, or discarded with everything kept."""

from collections.abc import Collection
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Conflict, Merged, MergeResult
from handrail.workspace.commits.commit import write_commit
from handrail.workspace.commits.merge_trees import is_ancestor, merge_trees
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import Places
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.private_index import PrivateIndex, cannot_be_kept
from handrail.workspace.snapshots.state import run_ref
from handrail.workspace.snapshots.take import capture, keep, keep_commit, kept_refs
from handrail.workspace.worktrees.make import is_whole, owner_ref, remove_folder, remove_worktree
from handrail.workspace.worktrees.records import read_record, record_path
from handrail.workspace.worktrees.remove import tear_down


def merge_into_base(places: Places, tree: Tree, message: str) -> MergeResult:
    """Merge the run's branch into its base, if nobody has the base checked out."""
    root = find_root(Path(tree.repository))
    with places.locked(common_dir(root)) as lock:
        git = Git(root).holding(lock)
        known = {one.name: one for one in branches(git, f"refs/heads/{tree.base}", f"refs/heads/{tree.branch}")}
        _refuse_missing(tree, known)
        base, branch = known[tree.base], known[tree.branch]
        if is_ancestor(git, branch.commit, base.commit):
            return Merged(base.commit, already=True)
        if base.worktree:
            text = f"{tree.base} is checked out in {base.worktree}, and a checkout of yours is never changed"
            raise WorkspaceFault(text, next_step=f"merge it there: git -C {base.worktree} merge {tree.branch}")
        new = branch.commit
        if not is_ancestor(git, base.commit, branch.commit):
            found = merge_trees(git, base.commit, branch.commit)
            if found.files:
                return Conflict(found.files, found.message)
            new = write_commit(git, found.tree, message, (base.commit, branch.commit))
        git.out("update-ref", f"refs/heads/{tree.base}", new, base.commit)
        return Merged(new)


def remove(places: Places, tree: Tree, run: str, *, force: bool = False) -> str:
    """Remove an owned worktree after keeping what is in it; gives the ref. The branch stays."""
    if not tree.owned:
        message = f"{tree.path} is the user's own checkout, which is never removed"
        raise WorkspaceFault(message, next_step="there is nothing to do: the run only borrowed it")
    root, path = find_root(Path(tree.repository)), Path(tree.path)
    common, note = common_dir(root), record_path(path.parent, run)
    ref = _saved(places, tree, run, force=force)
    record = read_record(note)
    if record and record.teardown and path.is_dir():
        # Nobody else is kept waiting meanwhile: no lock is held while the commands run.
        tear_down(places, record)
        _saved(places, tree, run, force=force)
    with places.locked(path), places.locked(common):
        folder = places.private(path)
        remove_worktree(path, common)
        remove_folder(folder)
        note.unlink(missing_ok=True)
        return ref


def _saved(places: Places, tree: Tree, run: str, *, force: bool) -> str:
    path, root = Path(tree.path), find_root(Path(tree.repository))
    return _keep(places, tree, run, force=force) if is_whole(path, common_dir(root)) else _kept(Git(root), run)


def discard(places: Places, tree: Tree, run: str, *, force: bool = False) -> str:
    """Remove a run's worktree and branch; gives the ref that keeps both."""
    root = find_root(Path(tree.repository))
    git = Git(root)
    ref = remove(places, tree, run, force=force)
    with places.locked(common_dir(root)) as lock:
        return drop_branch(git.holding(lock), tree.branch, run) or ref


def drop_branch(git: Git, branch: str, run: str) -> str:
    """Delete the branch that was made for a run, unless somebody has it checked out; gives the ref that keeps it."""
    owner = owner_ref(run, branch)
    if git.asks("rev-parse", "--verify", "-q", owner) is None:
        return ""
    found = [one for one in branches(git, f"refs/heads/{branch}") if one.name == branch]
    if found and found[0].worktree:
        message = f"the branch {branch} is checked out in {found[0].worktree}, so it stays"
        raise WorkspaceFault(message, next_step=f"check out another branch there: git -C {found[0].worktree} switch -")
    ref = keep_commit(git, run, found[0].commit) if found else ""
    if found:
        git.out("branch", "-D", "--quiet", "--", branch)
    git.out("update-ref", "-d", owner)
    return ref


def _keep(places: Places, tree: Tree, run: str, *, force: bool) -> str:
    path = Path(tree.path)
    with places.locked(path) as lock:
        git = Git(path).holding(lock)
        state = capture(git, PrivateIndex(git, places.private(path)), tree, run)
        lost = cannot_be_kept(state.omitted)
        if lost and not force:
            message = f"{path} holds what cannot be kept under a ref: {'; '.join(lost)}"
            raise WorkspaceFault(message, next_step="move it elsewhere, or insist", files=lost)
        return keep(git, state)


def _kept(git: Git, run: str) -> str:
    kept = kept_refs(git, run)
    if kept:
        return kept[-1][0]
    return run_ref(run) if git.asks("rev-parse", "--verify", "-q", run_ref(run)) else ""


def _refuse_missing(tree: Tree, known: Collection[str]) -> None:
    for name in (tree.base, tree.branch):
        if name not in known:
            raise WorkspaceFault(f"there is no branch {name} in {tree.repository}", next_step="see `git branch`")

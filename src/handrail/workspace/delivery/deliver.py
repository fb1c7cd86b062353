"""Merges a run's branch into its base; a checkout of the base is moved forward only where nothing is in the way."""

import shlex
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Conflict, Merged, MergeResult
from handrail.workspace.commits.commit import write_commit
from handrail.workspace.commits.merge_trees import is_ancestor, merge_trees
from handrail.workspace.delivery.fast_forward import fast_forward
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.changes import require_true_objects


def merge_into_base(places: DataLayout, tree: Tree, message: str) -> MergeResult:
    """Merge the run's branch into its base."""
    root = find_root(Path(tree.repository))
    with places.lock(common_dir(root)) as lock:
        git = places.git(root).with_locks(lock)
        known = {one.name: one for one in branches(git, f"refs/heads/{tree.base}", f"refs/heads/{tree.branch}")}
        for name in (tree.base, tree.branch):
            if name not in known:
                raise WorkspaceFault(f"there is no branch {name} in {tree.repository}", next_step="see `git branch`")
        base, branch = known[tree.base], known[tree.branch]
        if is_ancestor(git, branch.commit, base.commit):
            return Merged(base.commit, already=True)
        require_true_objects(git, base.commit, branch.commit)
        new = branch.commit
        forward = is_ancestor(git, base.commit, branch.commit)
        if base.worktree:
            command = f"git -C {shlex.quote(base.worktree)} merge {shlex.quote(tree.branch)}"
            if not forward:
                text = f"{tree.base} is checked out in {base.worktree} and has commits that {tree.branch} lacks"
                raise WorkspaceFault(text, next_step=f"merge it there: {command}")
            fast_forward(places, base, new, merge=command)
            return Merged(new)
        if not forward:
            found = merge_trees(git, base.commit, branch.commit)
            if found.files:
                return Conflict(found.files, found.message)
            new = write_commit(git, found.tree, message, (base.commit, branch.commit))
        git.out("update-ref", f"refs/heads/{tree.base}", new, base.commit)
        return Merged(new)

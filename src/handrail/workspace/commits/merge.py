"""Merges into the run's branch: computed first, then brought to the worktree in a way that can be resumed."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Conflict, Merged, MergeResult
from handrail.workspace.commits.commit import (
    LockedWorktree,
    commit_all,
    commit_at,
    find_merge_parents,
    open_locked_worktree,
    return_to_branch,
    write_commit,
)
from handrail.workspace.commits.merge_trees import MergedTrees, is_ancestor, merge_three_way, merge_trees
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import DataLayout, read_json, write_json
from handrail.workspace.git.repositories import commit_of, list_uncommitted
from handrail.workspace.snapshots.heads import read_merge_heads, remember_merge
from handrail.workspace.snapshots.restore import MERGE_JOURNAL, stage_lines
from handrail.workspace.snapshots.take import capture

_SHOWN = 5


@frozen
class _Plan:
    """What is to happen to the worktree; written to disk before the first file changes."""

    old: str
    new: str
    """The merge commit; empty when the conflicts are left in the files."""
    tree: str
    theirs: str
    stages: str
    message: str


def commit_before(places: DataLayout, tree: Tree, message: str) -> str:
    """Commit what is left before a merge; an interrupted merge is completed first, and never committed half-done."""
    with places.lock(Path(tree.path)) as lock:
        at = open_locked_worktree(places, tree, lock)
        finish(at)
        return return_to_branch(at) if read_merge_heads(at.git) else commit_at(at, message, None)


def merge(places: DataLayout, tree: Tree, commit: str, message: str, *, markers: bool) -> MergeResult:
    """Merge a commit into the run's branch."""
    with places.lock(Path(tree.path)) as lock:
        return _merge_at(open_locked_worktree(places, tree, lock), commit, message, markers=markers)


def build_upon(places: DataLayout, tree: Tree, commit: str, message: str, base: str) -> MergeResult:
    """Merge a commit into the run's branch; with a `base`, only what changed since that one."""
    with places.lock(Path(tree.path)) as lock:
        return _merge_at(open_locked_worktree(places, tree, lock), commit, message, base=base)


def _merge_at(at: LockedWorktree, commit: str, message: str, *, markers: bool = False, base: str = "") -> MergeResult:
    finish(at)
    head, theirs = return_to_branch(at), commit_of(at.git, commit)
    if is_ancestor(at.git, theirs, head):
        return Merged(head, already=True)
    found = merge_pair(at.git, head, theirs, base)
    if found.files and theirs in read_merge_heads(at.git):
        return Conflict(found.files, found.message)
    _refuse_dirt(at)
    if found.files and not markers:
        return Conflict(found.files, found.message)
    _refuse_overwriting(at.git, head, found.tree)
    new = "" if found.files else write_commit(at.git, found.tree, message, (head, theirs))
    stages = at.git.line("hash-object", "-w", "--stdin", stdin=found.stages) if found.files else ""
    write_json(_journal(at), asdict(_Plan(head, new, found.tree, theirs, stages, message)))
    finish(at)
    return Conflict(found.files, found.message) if found.files else Merged(new)


def merge_pair(git: Git, ours: str, theirs: str, base: str = "") -> MergedTrees:
    """Merge two commits, with their own common base or another one."""
    if not base:
        return merge_trees(git, ours, theirs)
    return merge_three_way(git, *(git.line("rev-parse", f"{each}^{{tree}}") for each in (base, ours, theirs)))


def conclude(places: DataLayout, tree: Tree, message: str) -> MergeResult:
    """Commit a merge whose markers somebody resolved; while markers are left it is still a conflict."""
    with places.lock(Path(tree.path)) as lock:
        at = open_locked_worktree(places, tree, lock)
        finish(at)
        head = return_to_branch(at)
        theirs = find_merge_parents(at, head)
        sides = (head, *theirs) if theirs else tuple(at.git.line("rev-list", "--parents", "-n", "1", head).split()[1:])
        files = merge_trees(at.git, sides[0], sides[1]).files if len(sides) == 2 else ()
        left = tuple(name for name in files if _has_markers(at.git.where / name))
        if left:
            return Conflict(left, f"conflict markers are left in {', '.join(left)}")
        new = commit_all(at, capture(at.private, tree, ""), message, (head, *theirs))
        return Merged(new, already=new == head)


def finish(at: LockedWorktree) -> None:
    """Complete a merge that was decided, even by a process that was killed."""
    found = read_json(_journal(at))
    plan = _Plan(**cast("dict[str, str]", found)) if isinstance(found, dict) else None
    head = at.git.query("rev-parse", "--verify", "-q", "HEAD")
    if plan and head in (plan.old, plan.new):
        at.private.forget()
        at.git.out("read-tree", "--reset", "-u", plan.tree)
        if plan.new:
            at.git.out("update-ref", f"refs/heads/{at.tree.branch}", plan.new)
        else:
            stages = at.git.out("cat-file", "blob", plan.stages)
            at.git.out("update-index", "-z", "--index-info", stdin=stage_lines(stages))
            remember_merge(at.git, (plan.theirs,), plan.message)
    _journal(at).unlink(missing_ok=True)


def _journal(at: LockedWorktree) -> Path:
    return at.private.path.with_name(MERGE_JOURNAL)


def _refuse_dirt(at: LockedWorktree) -> None:
    dirt = list_uncommitted(at.git)
    if dirt or read_merge_heads(at.git):
        names = ", ".join(dirt[:_SHOWN]) + (f" and {len(dirt) - _SHOWN} more" if len(dirt) > _SHOWN else "")
        message = f"{at.tree.path} has uncommitted changes, so nothing can be merged: {names}"
        raise WorkspaceFault(message, next_step="commit them with a step of type `commit` first", files=dirt)


def _refuse_overwriting(git: Git, head: str, tree: str) -> None:
    added = split(git.out("diff-tree", "-r", "-z", "--name-only", "--diff-filter=A", head, tree))
    there = tuple(decode_path(path) for path in added if os.path.lexists(os.fsencode(git.where) + b"/" + path))
    there = tuple(name for name in there if not (git.where / name).is_dir())
    if there:
        message = f"ignored files in {git.where} are in the way of the merge: {', '.join(there)}"
        raise WorkspaceFault(message, next_step="move them away, then try again", files=there)


def _has_markers(path: Path) -> bool:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return False
    return any(line.startswith(b"<<<<<<< ") for line in lines) and any(line.startswith(b">>>>>>> ") for line in lines)

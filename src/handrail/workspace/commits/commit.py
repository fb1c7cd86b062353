"""Commits of an owned worktree on the run's own branch: no hooks, the user's identity, never twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.commits.merge_trees import is_ancestor
from handrail.workspace.commits.unused_filters import refuse_unfiltered
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.git.folder_users import clear_stale_locks
from handrail.workspace.snapshots.heads import attach, end_progress, find_other_worktree, move, read_merge_heads
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.restore import put_index
from handrail.workspace.snapshots.state import State
from handrail.workspace.snapshots.take import capture


@frozen
class LockedWorktree:
    """An owned worktree that we hold the lock of."""

    git: Git
    private: PrivateIndex
    tree: Tree


def open_locked_worktree(places: DataLayout, tree: Tree, lock: int) -> LockedWorktree:
    """Open an owned worktree whose lock is held."""
    if not tree.owned:
        message = f"{tree.path} is the user's own checkout; Handrail does not commit there"
        raise WorkspaceFault(message, next_step="commit there yourself")
    path = Path(tree.path)
    git = places.git(path).with_locks(lock)
    clear_stale_locks(path, tree.branch)
    return LockedWorktree(git, PrivateIndex(git, places.private_folder(path)), tree)


def return_to_branch(at: LockedWorktree) -> str:
    """Make sure that HEAD is the run's branch, including what an agent committed elsewhere; return the commit."""
    git, branch = at.git, at.tree.branch
    head = git.query("rev-parse", "--verify", "-q", "HEAD") or ""
    ref = git.query("symbolic-ref", "-q", "HEAD") or ""
    if head and ref == f"refs/heads/{branch}":
        return head
    tip = git.query("rev-parse", "--verify", "-q", f"refs/heads/{branch}") or ""
    place = ref.removeprefix("refs/heads/") or "no branch"
    if not head or (tip and not is_ancestor(git, tip, head)):
        message = f"{at.tree.path} is on {place}, which does not contain the run's branch {branch}"
        raise WorkspaceFault(message, next_step=f"move the work to {branch} there, or rewind to an earlier step")
    if find_other_worktree(git, at.tree, branch) or tip != head:
        move(git, at.tree, branch, head)
    attach(git, branch)
    return head


def commit(places: DataLayout, tree: Tree, message: str, paths: Sequence[str] | None) -> str:
    """Commit what changed, or the part of it that lies in `paths`; return the commit of HEAD."""
    with places.lock(Path(tree.path)) as lock:
        return commit_at(open_locked_worktree(places, tree, lock), message, paths)


def commit_at(at: LockedWorktree, message: str, paths: Sequence[str] | None) -> str:
    """Do the same for a worktree whose lock is held already."""
    head = return_to_branch(at)
    merging = find_merge_parents(at, head)
    if merging and paths is not None:
        raise WorkspaceFault(
            "a merge is in progress, so single files cannot be committed", next_step="commit all of it"
        )
    state = capture(at.private, at.tree, "")
    if state.unmerged:
        raise _conflict_error(at, state.unmerged)
    if paths is None:
        return commit_all(at, state, message, (head, *merging))
    return _commit_part(at, message, head, paths)


def commit_all(at: LockedWorktree, state: State, message: str, parents: tuple[str, ...]) -> str:
    """Commit all files as they are, if that differs from the first parent or brings in another one."""
    new = _commit_tree(at, state.work, message, parents)
    put_index(at.git, at.private, replace(state, index=state.work, unmerged=""))
    if read_merge_heads(at.git):
        end_progress(at.git)
    return new


def find_merge_parents(at: LockedWorktree, head: str) -> tuple[str, ...]:
    """Return the commits that a merge in progress brings in, except those that a killed process committed already."""
    return tuple(commit for commit in read_merge_heads(at.git) if not is_ancestor(at.git, commit, head))


def _commit_part(at: LockedWorktree, message: str, head: str, paths: Sequence[str]) -> str:
    raw = at.private.git.out("diff-index", "--cached", "--raw", "-z", "--no-renames", "--abbrev=64", head, "--", *paths)
    lines = _index_lines(split(raw))
    if not lines:
        return head
    draft = at.private.path.with_name("part")
    draft.with_name("part.lock").unlink(missing_ok=True)
    with_draft = at.git.with_index(draft)
    with_draft.out("read-tree", "--reset", head)
    with_draft.out("update-index", "-z", "--index-info", stdin=lines)
    new = _commit_tree(at, with_draft.line("write-tree"), message, (head,))
    at.git.out("update-index", "-z", "--index-info", stdin=lines)
    draft.unlink()
    return new


def _index_lines(raw: list[bytes]) -> bytes:
    fields = ((entry.split(b" "), path) for entry, path in zip(raw[::2], raw[1::2], strict=True))
    return b"".join(b"%s %s\t%s\0" % (_mode(entry[1]), entry[3], path) for entry, path in fields)


def _mode(mode: bytes) -> bytes:
    return b"0" if mode == b"000000" else mode


def _commit_tree(at: LockedWorktree, tree: str, message: str, parents: tuple[str, ...]) -> str:
    head = parents[0]
    if len(parents) == 1 and at.git.line("rev-parse", f"{head}^{{tree}}") == tree:
        return head
    refuse_unfiltered(at.git, _new_in(at.git, tree, parents), at.git.where)
    new = write_commit(at.git, tree, message, parents)
    at.git.out("update-ref", f"refs/heads/{at.tree.branch}", new, head)
    return new


def _new_in(git: Git, tree: str, parents: tuple[str, ...]) -> list[bytes]:
    """List the files of a tree that no parent has in this form: the others were stored by whoever committed them."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=AMT")
    first, *others = ([*split(git.out(*words, parent, tree))] for parent in parents)
    return [path for path in first if all(path in each for each in others)]


def write_commit(git: Git, tree: str, message: str, parents: tuple[str, ...]) -> str:
    """Write a commit in the user's name; no branch is moved."""
    words = [word for parent in dict.fromkeys(parents) for word in ("-p", parent)]
    return git.with_user_identity().line("commit-tree", tree, *words, stdin=message.rstrip("\n").encode() + b"\n")


def _conflict_error(at: LockedWorktree, blob: str) -> WorkspaceFault:
    entries = split(at.git.out("cat-file", "blob", blob))
    files = tuple(dict.fromkeys(decode_path(entry.partition(b"\t")[2]) for entry in entries))
    message = f"a merge in {at.tree.path} has unresolved conflicts: {', '.join(files)}"
    return WorkspaceFault(message, next_step="resolve them and `git add` the files, or rewind", files=files)

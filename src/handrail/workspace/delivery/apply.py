"""Bring a run's changes into the user's checkout as uncommitted changes, as a whole or not at all, and take them back.

What was applied is remembered below `refs/handrail/applied/`: one commit for each time, on top of the one before.
"""

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import cast

from handrail.errors import NotFound, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.commits.merge_trees import three_way
from handrail.workspace.git.command import Git, shown, split
from handrail.workspace.git.data_places import Places, plain
from handrail.workspace.git.repositories import find_root
from handrail.workspace.snapshots.changes import files_of, standing_files
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS, run_ref

_TITLE = "Changes that Handrail applied to a checkout"


@frozen
class Applied:
    """What `apply` did."""

    files: tuple[str, ...]
    """Those that it wrote or removed in the checkout."""


@frozen
class _Note:
    """One application: the checkout before and after, and the run's files that were brought in."""

    before: str
    after: str
    brought: str
    done: bool


def apply_to_checkout(places: Places, tree: Tree, run: str) -> Applied:
    """Bring what the run changed into the user's checkout; files that the user is editing are refused by name."""
    root = find_root(Path(tree.repository))
    theirs = _brought(places, tree, run, root)
    with places.locked(root) as lock:
        git = Git(root).holding(lock)
        last = _last(git, run)
        base = last.brought if last and last.done else files_of(git, tree.commit)
        private = PrivateIndex(git, places.private(root))
        ours = private.follow()[0].tree
        found = three_way(git, base, ours, theirs)
        _refuse_own_edits(git, (base, ours, theirs), last)
        if found.files:
            message = f"the checkout has moved on and does not fit the run's changes: {', '.join(found.files)}"
            step = f"merge the run's branch instead: git merge {tree.branch}"
            raise WorkspaceFault(message, next_step=step, files=found.files)
        unfinished = last is not None and not last.done
        before = last.before if last and unfinished else ours
        note = _Note(before, found.tree, theirs, done=False)
        return Applied(_carry_out(git, private, run, (ours, note, unfinished)))


def undo_apply(places: Places, tree: Tree, run: str) -> Applied:
    """Take the last application back; files that were edited since are refused by name."""
    root = find_root(Path(tree.repository))
    with places.locked(root) as lock:
        git = Git(root).holding(lock)
        last = _last(git, run)
        if last is None:
            raise NotFound(f"nothing of {run} was applied to {root}", next_step="see `handrail diff` for its changes")
        private = PrivateIndex(git, places.private(root))
        now = private.follow()[0].tree
        touched = _paths(git, last.before, last.after)
        edited = [
            path for path in touched if path in _paths(git, last.after, now) and path in _paths(git, last.before, now)
        ]
        found = three_way(git, last.after, now, last.before)
        if edited or found.files:
            names = tuple(map(shown, edited)) or found.files
            message = f"files were edited after the changes were applied: {', '.join(names)}"
            raise WorkspaceFault(message, next_step="undo these by hand, or commit them first", files=names)
        _write_files(private, now, found.tree)
        ref = _ref(run)
        before = git.asks("rev-parse", "--verify", "-q", f"{ref}^")
        git.out("update-ref", *((ref, before) if before else ("-d", ref)))
        return Applied(tuple(map(shown, _paths(git, now, found.tree))))


def applied_runs(root: Path) -> tuple[str, ...]:
    """Name the runs of which something was applied to a checkout, as refs write them, the latest first."""
    folder = f"{REFS}applied/"
    listing = Git(root).line("for-each-ref", "--sort=-committerdate", "--format=%(refname)", folder)
    return tuple(ref.removeprefix(folder) for ref in listing.splitlines())


def _brought(places: Places, tree: Tree, run: str, root: Path) -> str:
    """The files as they stand; without the worktree the newest snapshot of them, else the branch."""
    if Path(tree.path).is_dir():
        return standing_files(places, Path(tree.path))
    git = Git(root)
    return files_of(git, git.asks("rev-parse", "--verify", "-q", run_ref(run)) or tree.branch)


def _carry_out(git: Git, private: PrivateIndex, run: str, work: tuple[str, _Note, bool]) -> tuple[str, ...]:
    ours, note, unfinished = work
    paths = _paths(git, ours, note.after)
    if not paths and not unfinished:
        return ()
    _refuse_overwriting(git, ours, note.after)
    _remember(git, run, note, replace_top=unfinished)
    _write_files(private, ours, note.after)
    _remember(git, run, _Note(note.before, note.after, note.brought, done=True), replace_top=True)
    return tuple(map(shown, paths))


def _write_files(private: PrivateIndex, old: str, new: str) -> None:
    private.forget()
    private.git.out("read-tree", "-m", "-u", old, new)


def _refuse_own_edits(git: Git, trees: tuple[str, str, str], last: _Note | None) -> None:
    base, ours, theirs = trees
    known = [base, theirs, *((last.before, last.after) if last else ())]
    edited = set(_paths(git, "HEAD", ours)) & set(_paths(git, base, theirs))
    for tree in known:
        edited &= set(_paths(git, tree, ours))
    if edited:
        names = tuple(sorted(map(shown, edited)))
        message = f"files with your own uncommitted edits are in the way: {', '.join(names)}"
        raise WorkspaceFault(message, next_step="commit or stash them, then apply again", files=names)


def _refuse_overwriting(git: Git, ours: str, after: str) -> None:
    added = split(git.out("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", ours, after))
    root = os.fsencode(git.where) + b"/"
    there = tuple(shown(path) for path in added if os.path.isfile(root + path) or os.path.islink(root + path))  # noqa: PTH113, PTH114
    if there:
        message = f"ignored files in the checkout stand where the run has files of its own: {', '.join(there)}"
        raise WorkspaceFault(message, next_step="move them away, then apply again", files=there)


def _paths(git: Git, old: str, new: str) -> list[bytes]:
    return split(git.out("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new))


def _ref(run: str) -> str:
    return f"{REFS}applied/{plain(run)}"


def _last(git: Git, run: str) -> _Note | None:
    ran = git.run("cat-file", "commit", _ref(run), ok=(0, 128))
    body = ran.out.partition(f"{_TITLE}\n\n".encode())[2]
    if ran.code or not body:
        return None
    return _Note(**cast("dict[str, str]", json.loads(body)))  # pyright: ignore[reportArgumentType] - as `_remember` wrote


def _remember(git: Git, run: str, note: _Note, *, replace_top: bool) -> None:
    ref = _ref(run)
    names = ("after", "before", "brought")
    tree = git.line("mktree", stdin="".join(f"040000 tree {getattr(note, name)}\t{name}\n" for name in names).encode())
    parent = git.asks("rev-parse", "--verify", "-q", f"{ref}^" if replace_top else ref)
    words = ("-p", parent) if parent else ()
    data = {each.name: getattr(note, each.name) for each in fields(_Note)}
    commit = git.line("commit-tree", tree, *words, stdin=f"{_TITLE}\n\n{json.dumps(data)}\n".encode())
    git.out("update-ref", ref, commit)

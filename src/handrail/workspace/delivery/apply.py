"""Applies a run's changes to the user's checkout as uncommitted changes, as a whole or not at all, and undoes that.

What was applied is remembered below `refs/handrail/applied/`: one commit for each time, on top of the one before.
"""

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal, cast

from handrail.errors import NotFound, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.commits.merge_trees import merge_three_way
from handrail.workspace.commits.unused_filters import refuse_unfiltered
from handrail.workspace.delivery.apply_journal import (
    Checkout,
    Journal,
    begin,
    carry_out,
    finish,
    read_journal,
    turn_back,
)
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import DataLayout, safe_name
from handrail.workspace.git.repositories import find_root
from handrail.workspace.snapshots.changes import current_tree, files_of, require_true_objects
from handrail.workspace.snapshots.index_memo import ComparisonBasis
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS, run_ref
from handrail.workspace.worktrees.records import record_of
from handrail.workspace.worktrees.remove import delete_ref

_TITLE = "Changes that Handrail applied to a checkout"


@frozen
class ApplyResult:
    """The result of `apply`."""

    files: tuple[str, ...]
    """The files that it wrote or removed in the checkout."""


@frozen
class _Note:
    """One application: the checkout before and after, and the run's files that were brought in."""

    before: str
    after: str
    brought: str
    done: bool


@frozen
class AppliedChanges:
    """Everything that was applied of a run."""

    brought: str
    """The tree of the run's files that was applied last."""
    steps: tuple[tuple[str, str], ...]
    """The checkout before and after each time, the oldest first."""


def apply_to_checkout(places: DataLayout, tree: Tree, run: str) -> ApplyResult:
    """Apply what the run changed to the user's checkout; refuse, by name, files that the user is editing."""
    root = find_root(Path(tree.repository))
    theirs = _tree_to_apply(places, tree, run, root)
    with places.lock(root) as lock:
        at = Checkout(places, places.git(root).with_locks(lock))
        finished = _finish(at, run)
        files = _apply(at, tree, run, theirs)
        return ApplyResult(tuple(dict.fromkeys((*finished, *files))))


def undo_apply(places: DataLayout, tree: Tree, run: str) -> ApplyResult:
    """Undo the last application; refuse, by name, files that were edited since."""
    root = find_root(Path(tree.repository))
    with places.lock(root) as lock:
        at = Checkout(places, places.git(root).with_locks(lock))
        cut_off = read_journal(at)
        if cut_off is None:
            return ApplyResult(_undo(at, run))
        _require_same(cut_off, run)
        back = cut_off if cut_off.way == "undo" else turn_back(at, _add_undo_target(at.git, cut_off))
        return ApplyResult(_conclude(at, back))


def _apply(at: Checkout, tree: Tree, run: str, theirs: str) -> tuple[str, ...]:
    git = at.git
    last = _last_note(git, run)
    base = last.brought if last and last.done else files_of(git, tree.commit)
    require_true_objects(git, base, theirs)
    ours = PrivateIndex(git, at.places.private_folder(git.where)).follow(basis=ComparisonBasis())[0].tree
    found = merge_three_way(git, base, ours, theirs)
    _refuse_own_edits(git, (base, ours, theirs), last)
    if found.files:
        message = f"the checkout has changed and conflicts with the run's changes: {', '.join(found.files)}"
        step = f"merge the run's branch instead: git merge {tree.branch}"
        raise WorkspaceFault(message, next_step=step, files=found.files)
    was_cut = last is not None and not last.done
    if not _paths(git, ours, found.tree) and not was_cut:
        return ()
    _refuse_overwriting(git, ours, found.tree)
    _refuse_unfiltered(at, tree, _paths(git, ours, found.tree, "--diff-filter=AMT"))
    note = _Note(last.before if last and was_cut else ours, found.tree, theirs, done=False)
    _remember(git, run, note, replace_top=was_cut)
    return _conclude(at, begin(at, _journal(at, run, "apply", (ours, found.tree), brought=theirs, before=note.before)))


def _refuse_unfiltered(at: Checkout, tree: Tree, paths: list[bytes]) -> None:
    """Refuse files that a filter would have converted, by the rules of the checkout or of the run's worktree."""
    path = Path(tree.path)
    if path.is_dir() and record_of(at.places, path) is not None:
        refuse_unfiltered(at.places.git(path), paths, path)
    refuse_unfiltered(at.git, paths, path)


def _undo(at: Checkout, run: str) -> tuple[str, ...]:
    git = at.git
    last = _last_note(git, run)
    if last is None:
        raise NotFound(f"nothing of {run} was applied to {git.where}", next_step=f"handrail diff {run}")
    now = PrivateIndex(git, at.places.private_folder(git.where)).follow(basis=ComparisonBasis())[0].tree
    touched = _paths(git, last.before, last.after)
    edited = [
        path for path in touched if path in _paths(git, last.after, now) and path in _paths(git, last.before, now)
    ]
    found = merge_three_way(git, last.after, now, last.before)
    if edited or found.files:
        names = tuple(map(decode_path, edited)) or found.files
        message = f"files were edited after the changes were applied: {', '.join(names)}"
        raise WorkspaceFault(message, next_step="undo these by hand, or commit them first", files=names)
    journal = _add_undo_target(git, _journal(at, run, "undo", (now, found.tree)))
    return _conclude(at, begin(at, journal))


def _journal(at: Checkout, run: str, way: Literal["apply", "undo"], trees: tuple[str, str], **note: str) -> Journal:
    old, new = trees
    return Journal(run=run, checkout=str(at.git.where), way=way, old=old, new=new, files=(), note=note)


def _add_undo_target(git: Git, journal: Journal) -> Journal:
    """Note which application is the last one after this one is undone, so that it is undone only once."""
    before = git.query("rev-parse", "--verify", "-q", f"{_ref(journal.run)}^") or ""
    return replace(journal, note={**journal.note, "back_to": before})


def _finish(at: Checkout, run: str) -> tuple[str, ...]:
    """Finish an interrupted change, before anything else is done to the checkout."""
    cut_off = read_journal(at)
    if cut_off is None:
        return ()
    _require_same(cut_off, run)
    done = _conclude(at, cut_off)
    return done if cut_off.way == "apply" else ()


def _require_same(cut_off: Journal, run: str) -> None:
    if cut_off.run != run:
        message = f"an interrupted apply of {cut_off.run} to {cut_off.checkout} must be finished or undone first"
        step = f"handrail apply {cut_off.run} finishes it, handrail apply {cut_off.run} --undo reverts it"
        raise WorkspaceFault(message, next_step=step)


def _conclude(at: Checkout, journal: Journal) -> tuple[str, ...]:
    """Put the files of a change in place, and note that it is done."""
    carry_out(at, journal)
    PrivateIndex(at.git, at.places.private_folder(at.git.where)).forget()
    if journal.way == "apply":
        note = _Note(journal.note["before"], journal.new, journal.note["brought"], done=True)
        _remember(at.git, journal.run, note, replace_top=True)
    else:
        _go_back_to(at.git, journal.run, journal.note["back_to"])
    finish(at)
    return tuple(decode_path(os.fsencode(each.path)) for each in journal.files)


def _go_back_to(git: Git, run: str, before: str) -> None:
    ref = _ref(run)
    now = git.query("rev-parse", "--verify", "-q", ref)
    if before:
        git.out("update-ref", ref, before)
    elif now is not None:
        delete_ref(git, ref, now)


def list_applied_runs(git: Git) -> tuple[str, ...]:
    """List the runs of which something was applied to a checkout, as refs write them, the latest first."""
    folder = f"{REFS}applied/"
    listing = git.line("for-each-ref", "--sort=-committerdate", "--format=%(refname)", folder)
    return tuple(ref.removeprefix(folder) for ref in listing.splitlines())


def find_applied_changes(git: Git, run: str) -> AppliedChanges | None:
    """Return what was applied of a run and not undone; None where that is nothing, or was interrupted."""
    last = _last_note(git, run)
    if last is None or not last.done:
        return None
    listing = git.line("rev-list", "--first-parent", _ref(run)).splitlines()
    notes = [note for commit in reversed(listing) if (note := _note_in(git, commit)) is not None]
    return AppliedChanges(last.brought, tuple((note.before, note.after) for note in notes))


def _tree_to_apply(places: DataLayout, tree: Tree, run: str, root: Path) -> str:
    """Return the tree of the current files; without the worktree that of the newest snapshot, else of the branch."""
    if Path(tree.path).is_dir() and record_of(places, Path(tree.path)) is not None:
        return current_tree(places, Path(tree.path))
    git = places.git(root)
    return files_of(git, git.query("rev-parse", "--verify", "-q", run_ref(run)) or tree.branch)


def _refuse_own_edits(git: Git, trees: tuple[str, str, str], last: _Note | None) -> None:
    base, ours, theirs = trees
    known = [base, theirs, *((last.before, last.after) if last else ())]
    edited = set(_paths(git, "HEAD", ours)) & set(_paths(git, base, theirs))
    for tree in known:
        edited &= set(_paths(git, tree, ours))
    if edited:
        names = tuple(sorted(map(decode_path, edited)))
        message = f"files with your own uncommitted edits are in the way: {', '.join(names)}"
        raise WorkspaceFault(message, next_step="commit or stash them, then apply again", files=names)


def _refuse_overwriting(git: Git, ours: str, after: str) -> None:
    added = split(git.out("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", ours, after))
    root = os.fsencode(git.where) + b"/"
    there = tuple(decode_path(path) for path in added if os.path.isfile(root + path) or os.path.islink(root + path))  # noqa: PTH113, PTH114
    if there:
        message = f"ignored files in the checkout are in the way of files of the run: {', '.join(there)}"
        raise WorkspaceFault(message, next_step="move them away, then apply again", files=there)


def _paths(git: Git, old: str, new: str, *words: str) -> list[bytes]:
    return split(git.out("diff-tree", "-r", "-z", "--name-only", "--no-renames", *words, old, new))


def _ref(run: str) -> str:
    return f"{REFS}applied/{safe_name(run)}"


def _last_note(git: Git, run: str) -> _Note | None:
    return _note_in(git, _ref(run))


def _note_in(git: Git, commit: str) -> _Note | None:
    ran = git.run("cat-file", "commit", commit, ok=(0, 128))
    body = ran.out.partition(f"{_TITLE}\n\n".encode())[2]
    if ran.code or not body:
        return None
    return _Note(**cast("dict[str, str]", json.loads(body)))  # pyright: ignore[reportArgumentType] - as `_remember` wrote


def _remember(git: Git, run: str, note: _Note, *, replace_top: bool) -> None:
    ref = _ref(run)
    names = ("after", "before", "brought")
    tree = git.line("mktree", stdin="".join(f"040000 tree {getattr(note, name)}\t{name}\n" for name in names).encode())
    parent = git.query("rev-parse", "--verify", "-q", f"{ref}^" if replace_top else ref)
    words = ("-p", parent) if parent else ()
    data = {each.name: getattr(note, each.name) for each in fields(_Note)}
    commit = git.line("commit-tree", tree, *words, stdin=f"{_TITLE}\n\n{json.dumps(data)}\n".encode())
    git.out("update-ref", ref, commit)

"""What differs between commits, snapshots and the current files."""

import hashlib
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import FileChange
from handrail.workspace.git.command import Git, decode_path
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.git.repositories import commit_of
from handrail.workspace.snapshots.omitted import cache_names
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.take import read

_Change = Literal["added", "modified", "deleted", "renamed", "type"]
_KINDS: dict[str, _Change] = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "type"}
_INDEX_LINE = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+(?: [0-7]+)?\n", re.MULTILINE)
_AT_ONCE = 64
"""How many objects are read together."""
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "-M")


@frozen
class _Side:
    """One of two states that are compared."""

    tree: str
    nested: tuple[str, ...] = ()


def files_of(git: Git, name: str) -> str:
    """Return the tree of a commit's files; for a snapshot, that of the files in the worktree."""
    return _side(git, name).tree


def current_tree(places: DataLayout, path: Path) -> str:
    """Return the tree of the current files of a worktree."""
    return _current_side(places, path).tree


def changes(places: DataLayout, tree: Tree, since: str, until: str | None) -> tuple[FileChange, ...]:
    """List the files that differ, and the nested repositories in which some do."""
    old, new = _load_sides(places, tree, since, until)
    words = ("diff-tree", "-r", "-z", "--raw", "--numstat", *_PLAIN, old.tree, new.tree)
    return (*_parse_changes(_git(places, tree).out(*words)), *_repository_changes(old, new))


def list_ignored(places: DataLayout, tree: Tree, below: tuple[str, ...]) -> tuple[str, ...]:
    """List the files below some paths that are skipped as ignored, and the new caches there, each as one entry."""
    path = Path(tree.path)
    with places.lock(path) as lock:
        private = PrivateIndex(places.git(path).with_locks(lock), places.private_folder(path))
        caches = cache_names(private.follow()[0].omitted)
        files = private.list_ignored(below)
    near = (each for each in caches if any(_is_near(each, f"{folder}/" if folder else "") for folder in below))
    return (*near, *map(decode_path, files))


def _is_near(cache: str, folder: str) -> bool:
    """Whether one of the two contains the other."""
    return cache.startswith(folder) or folder.startswith(cache)


def _parse_changes(listing: bytes) -> tuple[FileChange, ...]:
    rows = iter(listing.split(b"\0"))
    kinds: list[tuple[_Change, str, str]] = []
    for row in rows:
        if not row.startswith(b":"):
            counts = [row, *rows]
            return _add_line_counts(kinds, counts)
        letter, first = row.rpartition(b" ")[2][:1].decode(), decode_path(next(rows))
        old_name, name = (first, decode_path(next(rows))) if letter == "R" else ("", first)
        kinds.append((_KINDS.get(letter, "modified"), old_name, name))
    return ()


def _repository_changes(old: _Side, new: _Side) -> tuple[FileChange, ...]:
    """Return the nested repositories that changed: a snapshot cannot hold their files, but must not hide the change."""
    changed = (each for each in new.nested if each not in old.nested)
    return tuple(FileChange(each.rpartition(" ")[0], "repository") for each in changed)


def diff(places: DataLayout, tree: Tree, since: str, until: str | None, *, stat: bool) -> str:
    """Return the difference as a patch, or as a summary with counted lines."""
    old, new = _load_sides(places, tree, since, until)
    require_true_objects(_git(places, tree), old.tree, new.tree)
    form = ("--stat=100",) if stat else ("-p", "--full-index", "--binary")
    return decode_path(_git(places, tree).out("diff-tree", "-r", *form, *_PLAIN, old.tree, new.tree))


def readable_diff(places: DataLayout, tree: Tree, since: str, until: str) -> str:
    """Return the difference for readers, without the contents of binary files and the names of objects."""
    old, new = _load_sides(places, tree, since, until)
    require_true_objects(_git(places, tree), old.tree, new.tree)
    patch = decode_path(_git(places, tree).out("diff-tree", "-r", "-p", *_PLAIN, old.tree, new.tree))
    named = (f"# {each.path} is a separate repository: files in it changed\n" for each in _repository_changes(old, new))
    return "".join(named) + _INDEX_LINE.sub("", patch)


def require_true_objects(git: Git, old: str, new: str) -> None:
    """Refuse a difference between commits or trees if the content of an object in it does not match its name.

    Git believes whatever is stored under a name, and whoever works in a worktree can write into the object store. Every
    folder that was compared is checked as well, so no difference is missed.
    """
    roots = git.line("rev-parse", old, new, f"{old}^{{tree}}", f"{new}^{{tree}}").split()
    rows = git.out("diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev", *roots[2:]).split(b"\0")[::2]
    sides = (side for row in rows if row for side in _sides(row.decode()))
    names = iter(dict.fromkeys((*roots, *sides)))
    while some := "".join(f"{each}\n" for each in islice(names, _AT_ONCE)):
        for name, kind, content in _parse_objects(git.out("cat-file", "--batch", stdin=some.encode())):
            if _name_of(kind, content, len(name)) != name:
                message = f"the object {name} in {git.where} does not match its name: it was written by hand"
                step = f"find the forged objects with `git -C {git.where} fsck`, and discard the run"
                raise WorkspaceFault(message, next_step=step)


def _sides(row: str) -> Iterator[str]:
    """Yield the objects in a line of a raw difference, except nested repositories and what does not exist."""
    old_mode, new_mode, old, new, _ = row.removeprefix(":").split(" ")
    yield from (name for mode, name in ((old_mode, old), (new_mode, new)) if mode != "160000" and name.strip("0"))


def _parse_objects(data: bytes) -> Iterator[tuple[str, str, bytes]]:
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, kind, *size = data[at:end].decode().split(" ")
        at = end + 1
        # A missing object has no size; whoever reads the difference finds out.
        if size:
            content = data[at : at + int(size[0])]
            at += len(content) + 1
            yield name, kind, content


def _name_of(kind: str, content: bytes, digits: int) -> str:
    data = f"{kind} {len(content)}\0".encode() + content
    return (hashlib.sha256(data) if digits == 64 else hashlib.sha1(data, usedforsecurity=False)).hexdigest()


def _load_sides(places: DataLayout, tree: Tree, since: str, until: str | None) -> tuple[_Side, _Side]:
    git = _git(places, tree)
    new = _current_side(places, Path(tree.path)) if until is None else _side(git, until)
    return _side(git, since), new


def _side(git: Git, name: str) -> _Side:
    commit = commit_of(git, name)
    state = read(git, commit)
    return _Side(state.work, state.nested) if state else _Side(git.line("rev-parse", f"{commit}^{{tree}}"))


def _current_side(places: DataLayout, path: Path) -> _Side:
    with places.lock(path) as lock:
        files = PrivateIndex(places.git(path).with_locks(lock), places.private_folder(path)).follow()[0]
    return _Side(files.tree, files.nested)


def _git(places: DataLayout, tree: Tree) -> Git:
    """Return git in the worktree, or in the repository when the worktree itself is gone."""
    path = Path(tree.path)
    return places.git(path if (path / ".git").exists() else Path(tree.repository)).without_index()


def _add_line_counts(kinds: list[tuple[_Change, str, str]], rows: list[bytes]) -> tuple[FileChange, ...]:
    found: list[FileChange] = []
    at = 0
    for kind, old, path in kinds:
        added, deleted, _ = rows[at].split(b"\t", 2)
        found.append(FileChange(path, kind, _number(added), _number(deleted), old))
        at += 3 if kind == "renamed" else 1
    return tuple(found)


def _number(text: bytes) -> int | None:
    return None if text == b"-" else int(text)

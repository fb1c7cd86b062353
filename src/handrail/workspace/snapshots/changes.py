"""What differs between commits, snapshots and the files as they stand."""

from pathlib import Path
from typing import Literal

from handrail.model.history.trees import Tree
from handrail.ports.workspaces import FileChange
from handrail.workspace.git.command import Git, shown
from handrail.workspace.git.data_places import Places
from handrail.workspace.git.repositories import commit_of
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.take import read

_Change = Literal["added", "modified", "deleted", "renamed", "type"]
_KINDS: dict[str, _Change] = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "type"}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "-M")


def files_of(git: Git, name: str) -> str:
    """Give the tree of a commit's files; of a snapshot those that stood in the work tree."""
    commit = commit_of(git, name)
    state = read(git, commit)
    return state.work if state else git.line("rev-parse", f"{commit}^{{tree}}")


def standing_files(places: Places, path: Path) -> str:
    """Give the tree of the files of a work tree as they stand."""
    with places.locked(path) as lock:
        return PrivateIndex(Git(path).holding(lock), places.private(path)).follow()[0].tree


def changes(places: Places, tree: Tree, since: str, until: str | None) -> tuple[FileChange, ...]:
    """List the files that differ."""
    old, new = _both(places, tree, since, until)
    fields = _git(tree).out("diff-tree", "-r", "-z", "--raw", "--numstat", *_PLAIN, old, new).split(b"\0")
    rows = iter(fields)
    kinds: list[tuple[_Change, str, str]] = []
    for row in rows:
        if not row.startswith(b":"):
            counts = [row, *rows]
            return _counted(kinds, counts)
        letter, first = row.rpartition(b" ")[2][:1].decode(), shown(next(rows))
        old_name, name = (first, shown(next(rows))) if letter == "R" else ("", first)
        kinds.append((_KINDS.get(letter, "modified"), old_name, name))
    return ()


def diff(places: Places, tree: Tree, since: str, until: str | None, *, stat: bool) -> str:
    """Give the difference as a patch, or as a summary with lines counted."""
    old, new = _both(places, tree, since, until)
    form = ("--stat=100",) if stat else ("-p", "--full-index", "--binary")
    return shown(_git(tree).out("diff-tree", "-r", *form, *_PLAIN, old, new))


def _both(places: Places, tree: Tree, since: str, until: str | None) -> tuple[str, str]:
    git = _git(tree)
    new = standing_files(places, Path(tree.path)) if until is None else files_of(git, until)
    return files_of(git, since), new


def _git(tree: Tree) -> Git:
    """Use the repository when the worktree itself is gone."""
    path = Path(tree.path)
    return Git(path if (path / ".git").exists() else Path(tree.repository))


def _counted(kinds: list[tuple[_Change, str, str]], rows: list[bytes]) -> tuple[FileChange, ...]:
    found: list[FileChange] = []
    at = 0
    for kind, old, path in kinds:
        added, deleted, _ = rows[at].split(b"\t", 2)
        found.append(FileChange(path, kind, _number(added), _number(deleted), old))
        at += 3 if kind == "renamed" else 1
    return tuple(found)


def _number(text: bytes) -> int | None:
    return None if text == b"-" else int(text)

"""Moves a checked-out branch forward, together with its checkout, where nothing of the user's is in the way.

Git writes the files first, then the index, then the branch is moved. The plan is noted before that, so that the next
`merge` after a crash can put back the files that git had begun to write, and start over. A file that is neither in its
old state, nor in its new state, nor a partly written new state belongs to the user, and stops it.
"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import DataLayout, read_json, write_json
from handrail.workspace.git.folder_users import clear_stale_locks
from handrail.workspace.git.repositories import Branch, head

_NOTE = "fast-forward.json"
_SHOWN = 5


@frozen
class _Move:
    """A branch with its old commit, and the one that it is moved to."""

    branch: str
    old: str
    new: str


@frozen
class _File:
    """A file that differs between two commits."""

    path: bytes
    old: str
    """Its old blob; empty where there was none."""
    new: str


def fast_forward(places: DataLayout, base: Branch, new: str, *, merge: str) -> None:
    """Move a branch and its checkout to a commit that descends from it; `merge` is the command for a person."""
    root = Path(base.worktree)
    with places.lock(root) as lock:
        git = places.git(root).with_locks(lock)
        note = places.private_folder(root) / _NOTE
        move = _Move(base.name, base.commit, new)
        _take_up(git, note, base)
        if head(git).commit != base.commit:
            raise _refusal(base, "it has moved in the meantime", merge)
        _require_clean(git, base, merge)
        _require_untouched(git, base, _list_changed_files(git, move), merge)
        write_json(note, asdict(move))
        git.out("read-tree", "-m", "-u", base.commit, new)
        git.out("update-ref", "-m", f"merge: {merge}", f"refs/heads/{base.name}", new, base.commit)
        note.unlink()


def _take_up(git: Git, note: Path, base: Branch) -> None:
    """Put back what a killed process had begun to write."""
    found = read_json(note)
    move = _Move(**cast("dict[str, str]", found)) if isinstance(found, dict) else None
    if move is not None and (move.branch, move.old) == (base.name, base.commit):
        clear_stale_locks(git.where, base.name)
        _put_back(git, base, move)
    note.unlink(missing_ok=True)


def _put_back(git: Git, base: Branch, move: _Move) -> None:
    files = _list_changed_files(git, move)
    foreign = [each for each in files if not _is_ours(git, each)]
    if foreign:
        names = _names([each.path for each in foreign])
        text = f"a merge into {base.name} was interrupted, and these files were edited since: {names}"
        raise WorkspaceFault(text, next_step=f"check them with `git -C {base.worktree} status`, then merge again")
    git.out("read-tree", move.old)
    kept = [each.path for each in files if each.old]
    for each in files:
        place = _place(git, each.path)
        if not each.old and os.path.lexists(place):
            place.unlink()
    git.out("checkout-index", "-f", "-z", "--stdin", stdin=b"".join(path + b"\0" for path in kept))
    git.run("update-index", "-q", "--refresh", ok=(0, 1))


def _is_ours(git: Git, file: _File) -> bool:
    place = _place(git, file.path)
    if not os.path.lexists(place) or _blob(git, file.path) in (file.old, file.new):
        return True
    if not file.new or not place.is_file() or place.is_symlink():
        return False
    written = place.read_bytes()
    meant = git.out("cat-file", "--filters", f"--path={decode_path(file.path)}", file.new)
    return meant.startswith(written)


def _list_changed_files(git: Git, move: _Move) -> list[_File]:
    raw = split(git.out("diff-tree", "-r", "-z", "--raw", "--no-renames", "--abbrev=64", move.old, move.new))
    rows = ((entry.decode().split(" "), path) for entry, path in zip(raw[::2], raw[1::2], strict=True))
    return [_File(path, _normalize_blob(entry[2]), _normalize_blob(entry[3])) for entry, path in rows]


def _normalize_blob(blob: str) -> str:
    return "" if not blob.strip("0") else blob


def _require_clean(git: Git, base: Branch, merge: str) -> None:
    words = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
    dirty = [entry[3:] for entry in split(git.out("status", *words))]
    if dirty:
        raise _refusal(base, f"it has uncommitted changes: {_names(dirty)}", merge)


def _require_untouched(git: Git, base: Branch, files: list[_File], merge: str) -> None:
    """Compare the files themselves: flags in the index can hide an edit, and an untracked file may be in the way."""
    edited = [each.path for each in files if os.path.lexists(_place(git, each.path)) and not _is_as_before(git, each)]
    if edited:
        raise _refusal(base, f"your own files are in the way: {_names(edited)}", merge)


def _is_as_before(git: Git, file: _File) -> bool:
    return bool(file.old) and (_place(git, file.path).is_dir() or _blob(git, file.path) == file.old)


def _blob(git: Git, path: bytes) -> str:
    place = _place(git, path)
    if place.is_symlink():
        return git.line("hash-object", "--stdin", stdin=os.fsencode(place.readlink()))
    return git.query("hash-object", f"--path={decode_path(path)}", "--", str(place)) or ""


def _place(git: Git, path: bytes) -> Path:
    return git.where / os.fsdecode(path)


def _names(paths: list[bytes]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(decode_path(path) for path in paths[:_SHOWN]) + more


def _refusal(base: Branch, why: str, merge: str) -> WorkspaceFault:
    text = f"{base.name} is checked out in {base.worktree}, and {why}"
    return WorkspaceFault(text, next_step=f"commit or stash your changes there, then: {merge}")

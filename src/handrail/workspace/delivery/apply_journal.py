"""Changes the files of a checkout all or not at all, also when the process is killed in the middle.

1. What each file is and what it will be, by kind and digest, is written to a journal before the first one is touched.
2. The new contents are made ready aside, as git would check them out. Each file is then put in place by one rename in
   its own folder: it is the old one or the new one at every moment, never a part of it.
3. A journal that is found later is finished or taken back. A file that is neither the old one nor the new one was
   edited meanwhile: it is named, and nothing is changed.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, shown, split
from handrail.workspace.git.data_places import Places, read_json, short, write_json

_FOLDER = "applying"
_GITLINK = b"160000"
Look: TypeAlias = str
"""What stands at a path: its kind and digest; empty for nothing, or a folder."""


@frozen
class FileChange:
    """One file of a checkout: what it is, and what it will be."""

    path: str
    old: Look
    new: Look


@frozen(kw_only=True)
class Journal:
    """A change of a checkout that was begun."""

    run: str
    checkout: str
    way: Literal["apply", "undo"]
    old: str
    """The tree that the files were."""
    new: str
    """The tree that they become."""
    files: tuple[FileChange, ...]
    note: dict[str, str]
    """What the caller wants to know when it is finished."""


@frozen
class Checkout:
    """The user's checkout, which nobody else changes for a run while its lock is held."""

    places: Places
    git: Git

    @property
    def root(self) -> Path:
        """Its folder."""
        return self.git.where

    @property
    def journal(self) -> Path:
        """The file that says what is being changed."""
        return _folder(self.places) / f"{short(self.root, 24)}.json"

    @property
    def staged(self) -> Path:
        """The folder of contents that are made ready."""
        return _folder(self.places) / f"{short(self.root, 24)}.files"

    def looks(self, change: FileChange) -> Look:
        """Tell what stands at the path of a file."""
        return look(self.root, change.path)


def unfinished(places: Places) -> tuple[Journal, ...]:
    """List the changes of checkouts that were cut off."""
    found = (_read(path) for path in sorted(_folder(places).glob("*.json")))
    return tuple(each for each in found if each is not None)


def read_journal(at: Checkout) -> Journal | None:
    """Give the change of this checkout that was cut off, if there is one; what one left before it began is removed."""
    found = _read(at.journal)
    if found is None:
        finish(at)
    return found


def begin(at: Checkout, journal: Journal) -> Journal:
    """Make everything ready for a change and write it down; gives it with what each file is and will be."""
    paths = _changed(at.git, journal.old, journal.new)
    _stage(at, journal.new, paths)
    files = [FileChange(path, look(at.root, path), look(at.staged, path)) for path in paths]
    begun = replace(journal, files=tuple(each for each in files if each.old != each.new))
    _refuse_obstacles(at, begun)
    at.journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(at.journal, asdict(begun))
    return begun


def carry_out(at: Checkout, journal: Journal) -> None:
    """Bring every file to what it will be; those that are there already are left alone."""
    _refuse_edited(at, journal)
    _remove_drafts(at, journal)
    if not at.staged.is_dir():
        _stage(at, journal.new, [each.path for each in journal.files])
    left = [each for each in journal.files if at.looks(each) != each.new]
    try:
        for each in sorted(left, key=lambda one: one.path, reverse=True):
            if not each.new:
                _remove(at.root, each.path)
        for each in left:
            if each.new:
                _put(at, each.path)
    except OSError as error:
        message = f"{error.filename or at.root} cannot be changed: {error.strerror}"
        step = f"handrail apply {journal.run} finishes it, handrail apply {journal.run} --undo takes it back"
        raise WorkspaceFault(message, next_step=step) from error


def turn_back(at: Checkout, journal: Journal) -> Journal:
    """Turn a change that was cut off into the one that takes back what it did."""
    _refuse_edited(at, journal)
    _remove_drafts(at, journal)
    done = [each for each in journal.files if at.looks(each) == each.new]
    _stage(at, journal.old, [each.path for each in done])
    files = tuple(FileChange(each.path, each.new, look(at.staged, each.path)) for each in done)
    back = replace(journal, way="undo", old=journal.new, new=journal.old, files=files)
    write_json(at.journal, asdict(back))
    return back


def finish(at: Checkout) -> None:
    """Forget a change that is complete."""
    index = at.staged.with_suffix(".index")
    drafts = (at.journal.with_name(f".{at.journal.name}.draft"), index, index.with_suffix(".index.lock"))
    for left in (at.journal, *drafts):
        left.unlink(missing_ok=True)
    shutil.rmtree(at.staged, ignore_errors=True)


def look(root: Path, path: str) -> Look:
    """Tell what stands at a path, without following a link on the way to it."""
    if not _is_below_folders(root, path):
        return ""
    full = root / path
    try:
        found = full.lstat()
        if stat.S_ISLNK(found.st_mode):
            return f"link {hashlib.sha256(os.fsencode(full.readlink())).hexdigest()}"
        if not stat.S_ISREG(found.st_mode):
            return "" if stat.S_ISDIR(found.st_mode) else "other"
        with full.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{'program' if found.st_mode & 0o100 else 'file'} {digest}"


def _is_below_folders(root: Path, path: str) -> bool:
    """Whether all that is on the way to a path are folders, so that a file there is a file of the checkout."""
    above = [root / folder for folder in reversed(PurePosixPath(path).parents) if folder.name]
    return all(folder.is_dir() and not folder.is_symlink() for folder in above)


def _changed(git: Git, old: str, new: str) -> list[str]:
    """List the files that differ; submodules are left to the user."""
    fields = iter(git.out("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split(b"\0"))
    rows = [(field.split(b" "), next(fields)) for field in fields if field.startswith(b":")]
    return [os.fsdecode(path) for words, path in rows if _GITLINK not in (words[0].lstrip(b":"), words[1])]


def _stage(at: Checkout, tree: str, paths: Iterable[str]) -> None:
    """Write files of a tree into a folder of ours, with the filters and attributes by which git checks them out."""
    shutil.rmtree(at.staged, ignore_errors=True)
    at.staged.mkdir(mode=0o700, parents=True)
    wanted = {name for path in paths for name in _with_attributes(path)}
    listing = split(at.git.out("ls-tree", "-r", "-z", "--full-tree", tree))
    lines = [_index_line(row) for row in listing if row.partition(b"\t")[2] in wanted and _is_usable(at.git, row)]
    index = at.staged.with_suffix(".index")
    for left in (index, index.with_suffix(".index.lock")):
        left.unlink(missing_ok=True)
    git = at.git.with_index(index)
    if lines:
        git.out("update-index", "-z", "--index-info", stdin=b"".join(lines))
        # A file of the run comes also where it lies outside the sparse patterns of the checkout.
        words = ("-c", "core.sparseCheckout=false", f"--work-tree={at.staged}", "read-tree", "--reset", "-u")
        git.out(*words, git.line("write-tree"))
    index.unlink(missing_ok=True)


def _with_attributes(path: str) -> Iterator[bytes]:
    """Name a file and those of the same tree whose attributes decide how it is checked out."""
    yield os.fsencode(path)
    yield from (os.fsencode(folder / ".gitattributes") for folder in PurePosixPath(path).parents)


def _is_usable(git: Git, row: bytes) -> bool:
    """Whether git can read a file; attributes that a partial clone lacks are none, as nobody checked them out."""
    what, _, path = row.partition(b"\t")
    if path.rpartition(b"/")[2] != b".gitattributes" or not git.through.says("partial"):
        return True
    return not git.run("cat-file", "-e", what.split(b" ")[2].decode(), ok=(0, 1, 128)).code


def _index_line(row: bytes) -> bytes:
    what, _, path = row.partition(b"\t")
    mode, _, blob = what.split(b" ")
    return b"%s %s\t%s\0" % (mode, blob, path)


def _put(at: Checkout, path: str) -> None:
    """Put one file in its place by a rename in its own folder."""
    target, staged, draft = at.root / path, at.staged / path, at.root / _draft(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft.unlink(missing_ok=True)
    if staged.is_symlink():
        draft.symlink_to(staged.readlink())
    else:
        shutil.copyfile(staged, draft)
        shutil.copymode(staged, draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
    if target.is_dir() and not target.is_symlink():
        # Its files went before.
        target.rmdir()
    draft.replace(target)


def _remove(root: Path, path: str) -> None:
    """Remove one file, and the folders that held nothing else."""
    (root / path).unlink()
    with suppress(OSError):
        for folder in PurePosixPath(path).parents:
            if folder.name:
                (root / folder).rmdir()


def _draft(path: str) -> PurePosixPath:
    full = PurePosixPath(path)
    return full.with_name(f".handrail-apply-{hashlib.sha256(os.fsencode(full.name)).hexdigest()[:16]}")


def _remove_drafts(at: Checkout, journal: Journal) -> None:
    for draft in (_draft(each.path) for each in journal.files):
        if _is_below_folders(at.root, str(draft)):
            (at.root / draft).unlink(missing_ok=True)


def _refuse_obstacles(at: Checkout, journal: Journal) -> None:
    """Refuse to write through links, into files, and over folders that hold what nobody would keep."""
    going = {each.path for each in journal.files if not each.new}
    found = [each.path for each in journal.files if each.new and _is_blocked(at.root, each.path, going)]
    if found:
        names = tuple(shown(os.fsencode(path)) for path in found)
        message = f"ignored files in the checkout stand where the run has files of its own: {', '.join(names)}"
        raise WorkspaceFault(message, next_step="move them away, then apply again", files=names)


def _is_blocked(root: Path, path: str, going: set[str]) -> bool:
    for folder in reversed(PurePosixPath(path).parents):
        full = root / folder
        if folder.name and os.path.lexists(full) and (full.is_symlink() or not full.is_dir()):
            return str(folder) not in going
    if os.path.lexists(root / _draft(path)):
        return True
    return any(str(file.relative_to(root)) not in going for file in _files_below(root / path))


def _files_below(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return
    for where, folders, files in os.walk(folder):
        links = (name for name in folders if (Path(where) / name).is_symlink())
        yield from (Path(where) / name for name in (*files, *links))


def _refuse_edited(at: Checkout, journal: Journal) -> None:
    edited = [each.path for each in journal.files if at.looks(each) not in (each.old, each.new)]
    if edited:
        names = tuple(shown(os.fsencode(path)) for path in edited)
        what = "applying" if journal.way == "apply" else "taking back"
        message = f"{what} the changes of {journal.run} was cut off, and files were edited since: {', '.join(names)}"
        step = "put these edits aside (git stash, or move the files away), then again; nothing was changed"
        raise WorkspaceFault(message, next_step=step, files=names)


def _folder(places: Places) -> Path:
    return places.folder / _FOLDER


def _read(path: Path) -> Journal | None:
    match read_json(path):
        case {"run": str(), "checkout": str(), "way": "apply" | "undo", "files": list()} as found:
            known = cast("dict[str, Any]", found)
            known["files"] = tuple(FileChange(**each) for each in known["files"])
            return Journal(**known)
        case _:
            return None

"""Changes the files of a checkout all or not at all, even when the process is killed in the middle.

1. The old and the new kind and digest of each file are written to a journal before the first one is touched.
2. The new contents are prepared in a separate folder, as git would check them out. Each file is then put in place by
one rename in its own folder: it is the old one or the new one at every moment, never a part of it.
3. A journal that is found later is finished or undone. A file that is neither the old one nor the new one was
edited meanwhile: it is named, and nothing is changed.
"""

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.delivery.checkout_files import Look, draft_of, is_below_folders, is_blocked, look, put, remove
from handrail.workspace.delivery.staged_files import list_changed_files, stage, unstage
from handrail.workspace.git.command import Git, decode_path
from handrail.workspace.git.data_places import DataLayout, hash_path, read_json, write_json

_FOLDER = "applying"


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
    """The tree of the files before."""
    new: str
    """The tree of the files after."""
    files: tuple[FileChange, ...]
    note: dict[str, str]
    """Data of the caller for when the change is finished."""


@frozen
class Checkout:
    """The user's checkout; while its lock is held, no other process changes it for a run."""

    places: DataLayout
    git: Git

    @property
    def root(self) -> Path:
        """Its folder."""
        return self.git.where

    @property
    def journal(self) -> Path:
        """The file that describes the change under way."""
        return _folder(self.places) / f"{hash_path(self.root, 24)}.json"

    @property
    def staging_folder(self) -> Path:
        """The folder of prepared contents."""
        return _folder(self.places) / f"{hash_path(self.root, 24)}.files"

    def look_at(self, change: FileChange) -> Look:
        """Return what is at the path of a file."""
        return look(self.root, change.path)


def list_unfinished(places: DataLayout) -> tuple[Journal, ...]:
    """List the interrupted changes of checkouts."""
    found = (_read(path) for path in sorted(_folder(places).glob("*.json")))
    return tuple(each for each in found if each is not None)


def read_journal(at: Checkout) -> Journal | None:
    """Return the interrupted change of this checkout, if there is one; remove what one left before it began."""
    found = _read(at.journal)
    if found is None:
        finish(at)
    return found


def begin(at: Checkout, journal: Journal) -> Journal:
    """Prepare a change and write its journal; return it with the old and new state of each file."""
    paths = list_changed_files(at.git, journal.old, journal.new)
    stage(at.git, at.staging_folder, journal.new, paths)
    files = [FileChange(path, look(at.root, path), look(at.staging_folder, path)) for path in paths]
    begun = replace(journal, files=tuple(each for each in files if each.old != each.new))
    _refuse_obstacles(at, begun)
    at.journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(at.journal, asdict(begun))
    return begun


def carry_out(at: Checkout, journal: Journal) -> None:
    """Bring every file to its new state; files that have it already are left alone."""
    _refuse_edited(at, journal)
    _remove_drafts(at, journal)
    if not at.staging_folder.is_dir():
        stage(at.git, at.staging_folder, journal.new, [each.path for each in journal.files])
    left = [each for each in journal.files if at.look_at(each) != each.new]
    try:
        for each in sorted(left, key=lambda one: one.path, reverse=True):
            if not each.new:
                remove(at.root, each.path)
        for each in left:
            if each.new:
                put(at.root, each.path, at.staging_folder / each.path)
    except OSError as error:
        message = f"{error.filename or at.root} cannot be changed: {error.strerror}"
        step = f"handrail apply {journal.run} finishes it, handrail apply {journal.run} --undo reverts it"
        raise WorkspaceFault(message, next_step=step) from error


def turn_back(at: Checkout, journal: Journal) -> Journal:
    """Convert an interrupted change into the one that undoes what it did."""
    _refuse_edited(at, journal)
    _remove_drafts(at, journal)
    done = [each for each in journal.files if at.look_at(each) == each.new]
    stage(at.git, at.staging_folder, journal.old, [each.path for each in done])
    files = tuple(FileChange(each.path, each.new, look(at.staging_folder, each.path)) for each in done)
    back = replace(journal, way="undo", old=journal.new, new=journal.old, files=files)
    write_json(at.journal, asdict(back))
    return back


def finish(at: Checkout) -> None:
    """Remove the journal and the prepared files of a complete change."""
    for left in (at.journal, at.journal.with_name(f".{at.journal.name}.draft")):
        left.unlink(missing_ok=True)
    unstage(at.staging_folder)


def _remove_drafts(at: Checkout, journal: Journal) -> None:
    for draft in (draft_of(each.path) for each in journal.files):
        if is_below_folders(at.root, str(draft)):
            (at.root / draft).unlink(missing_ok=True)


def _refuse_obstacles(at: Checkout, journal: Journal) -> None:
    """Refuse to write through links, into files, and over folders whose content is not saved anywhere."""
    going = {each.path for each in journal.files if not each.new}
    found = [each.path for each in journal.files if each.new and is_blocked(at.root, each.path, going)]
    if found:
        names = tuple(decode_path(os.fsencode(path)) for path in found)
        message = f"ignored files in the checkout are in the way of files of the run: {', '.join(names)}"
        raise WorkspaceFault(message, next_step="move them away, then apply again", files=names)


def _refuse_edited(at: Checkout, journal: Journal) -> None:
    edited = [each.path for each in journal.files if at.look_at(each) not in (each.old, each.new)]
    if edited:
        names = tuple(decode_path(os.fsencode(path)) for path in edited)
        what = "applying" if journal.way == "apply" else "undoing"
        message = (
            f"{what} the changes of {journal.run} was interrupted, and files were edited since: {', '.join(names)}"
        )
        step = "put these edits aside (git stash, or move the files away), then try again; nothing was changed"
        raise WorkspaceFault(message, next_step=step, files=names)


def _folder(places: DataLayout) -> Path:
    return places.folder / _FOLDER


def _read(path: Path) -> Journal | None:
    match read_json(path):
        case {"run": str(), "checkout": str(), "way": "apply" | "undo", "files": list()} as found:
            known = cast("dict[str, Any]", found)
            known["files"] = tuple(FileChange(**each) for each in known["files"])
            return Journal(**known)
        case _:
            return None

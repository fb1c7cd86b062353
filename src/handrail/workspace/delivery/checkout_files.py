"""Single files of a checkout: what is at a path, what is in the way there, and how a file is put in place.

A file is put in place by one rename in its own folder: it is the old one or the new one at every moment. No link is
followed on the way to it.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TypeAlias

Look: TypeAlias = str
"""What is at a path: its kind and digest; empty for nothing, or a folder."""


def look(root: Path, path: str) -> Look:
    """Return what is at a path, without following a link on the way to it."""
    if not is_below_folders(root, path):
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


def is_below_folders(root: Path, path: str) -> bool:
    """Whether everything on the way to a path is a folder, so that a file there is a file of the checkout."""
    above = [root / folder for folder in reversed(PurePosixPath(path).parents) if folder.name]
    return all(folder.is_dir() and not folder.is_symlink() for folder in above)


def put(root: Path, path: str, staged: Path) -> None:
    """Put a copy of a prepared file in place, by a rename in its own folder."""
    target, draft = root / path, root / draft_of(path)
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
        # Its files were removed before.
        target.rmdir()
    draft.replace(target)


def remove(root: Path, path: str) -> None:
    """Remove one file, and the folders that contained nothing else."""
    (root / path).unlink()
    with suppress(OSError):
        for folder in PurePosixPath(path).parents:
            if folder.name:
                (root / folder).rmdir()


def draft_of(path: str) -> PurePosixPath:
    """Return the path at which a file is written before it is put in place, in the same folder."""
    full = PurePosixPath(path)
    return full.with_name(f".handrail-apply-{hashlib.sha256(os.fsencode(full.name)).hexdigest()[:16]}")


def is_blocked(root: Path, path: str, going: set[str]) -> bool:
    """Whether a link, a file or a folder with other files is where a file will be; files in `going` do not count."""
    for folder in reversed(PurePosixPath(path).parents):
        full = root / folder
        if folder.name and os.path.lexists(full) and (full.is_symlink() or not full.is_dir()):
            return str(folder) not in going
    if os.path.lexists(root / draft_of(path)):
        return True
    return any(str(file.relative_to(root)) not in going for file in _files_below(root / path))


def _files_below(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return
    for where, folders, files in os.walk(folder):
        links = (name for name in folders if (Path(where) / name).is_symlink())
        yield from (Path(where) / name for name in (*files, *links))

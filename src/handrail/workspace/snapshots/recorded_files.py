"""Records of the files that no snapshot holds: ignored ones, and those in nested repositories and caches.

A step may have to leave such files alone. Their state is recorded when the step begins, and compared with the
files when it ends. Git is not asked which files those are, so that no rule, flag or setting hides one: every file
counts that is not in the snapshot on which the step began; files in it are covered by git's own differences.

1. Links are never followed: a link is what it points to. What is behind a link to a folder is not in the worktree.
2. A file that cannot be read counts as changed once anything about it differs, its times included.
3. Too many or too large files are refused, and so is a folder that cannot be read.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import FileRange
from handrail.workspace.git.command import split
from handrail.workspace.git.data_places import RECORDS, DataLayout, read_json, write_json
from handrail.workspace.snapshots.changes import files_of

MAX_FILES = 20_000
MAX_BYTES = 1 << 30
MAX_ENTRIES = 500_000
"""The most files and folders that are walked."""
MAX_RECORDS = 256
_PIECE = 1 << 20
_NARROWER = "name fewer files beside `ignored: true`, or remove those that are not needed"


@frozen
class _Found:
    """A file with its current stat data."""

    path: str
    full: bytes
    seen: os.stat_result

    @property
    def kind(self) -> str:
        """Describe what git stores about a file besides its content, and its size."""
        runs = "x" if stat.S_ISREG(self.seen.st_mode) and self.seen.st_mode & 0o100 else ""
        size = self.seen.st_size if stat.S_ISREG(self.seen.st_mode) else 0
        return f"{stat.S_IFMT(self.seen.st_mode):o}{runs} {size}"


def record(places: DataLayout, tree: Tree, chosen: FileRange, known: str = "") -> str:
    """Record the current files, and return the name of the record; a known one that exists is reused."""
    folder = _folder(places, tree)
    if known and (folder / f"{known}.json").exists():
        return known
    found: dict[str, str] = {}
    room = MAX_BYTES
    for each in _files(places, tree, chosen):
        room -= each.seen.st_size if stat.S_ISREG(each.seen.st_mode) else 0
        if len(found) >= MAX_FILES or room < 0:
            raise _limit_error(f"{MAX_FILES:,} files" if room >= 0 else f"{MAX_BYTES >> 20:,} MiB")
        found[each.path] = _stamp(each)
    name = sha256(json.dumps(found).encode()).hexdigest()
    folder.mkdir(mode=0o700, exist_ok=True)
    write_json(folder / f"{name}.json", found)
    _forget_oldest(folder)
    return name


def list_differing(places: DataLayout, tree: Tree, chosen: FileRange, name: str) -> tuple[str, ...]:
    """List the files that were added, changed or removed since a record was made."""
    known = read_json(_folder(places, tree) / f"{name}.json")
    if not isinstance(known, dict):
        message = "no files were recorded when the step began"
        raise WorkspaceFault(message, next_step="start the step over: rewind the run to it")
    left = {path: text for path, text in cast("dict[str, str]", known).items() if chosen.wanted(path)}
    found: list[str] = []
    for each in _files(places, tree, chosen):
        before = left.pop(each.path, "")
        # A file of another kind or size need not be read, so that no more is read than was recorded.
        if not before.startswith(f"{each.kind} ") or _stamp(each) != before:
            found.append(each.path)
    return tuple(sorted({*found, *left}))


def _folder(places: DataLayout, tree: Tree) -> Path:
    return places.private_folder(Path(tree.path)) / RECORDS


def _files(places: DataLayout, tree: Tree, chosen: FileRange) -> Iterator[_Found]:
    path = Path(tree.path)
    git = places.git(path).without_index()
    held = set(split(git.out("ls-tree", "-r", "-z", "--name-only", files_of(git, chosen.since))))
    for name, full, seen in _walk(os.fsencode(path), _outermost(chosen.below)):
        text = os.fsdecode(name)
        if name not in held and chosen.wanted(text):
            yield _Found(text, full, seen)


def _outermost(below: Iterable[str]) -> list[bytes]:
    """Remove paths that are below others."""
    found: list[str] = []
    for path in sorted(set(below), key=lambda each: (each.count("/") if each else -1, each)):
        if not any(not outer or path.startswith(f"{outer}/") for outer in found):
            found.append(path)
    return [os.fsencode(path) for path in found]


def _walk(root: bytes, below: list[bytes]) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Yield all files, links and other entries that are not folders, except those in git's own folders."""
    looked = 0
    paths = [path for path in below if not _has_link_in_path(root, path)]
    while paths:
        looked += 1
        if looked > MAX_ENTRIES:
            raise _limit_error(f"{MAX_ENTRIES:,} files and folders")
        path = paths.pop()
        full = root + b"/" + path if path else root
        try:
            seen = os.lstat(full)
            if stat.S_ISDIR(seen.st_mode):
                with os.scandir(full) as inside:
                    names = [each.name for each in inside if each.name != b".git"]
                paths += [path + b"/" + name if path else name for name in names]
                continue
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            message = f"{os.fsdecode(path)} cannot be read: {error.strerror}"
            raise WorkspaceFault(message, next_step="make it readable, then try again") from error
        yield path, full, seen


def _has_link_in_path(root: bytes, path: bytes) -> bool:
    parts = path.split(b"/")
    return any(os.path.islink(root + b"/" + b"/".join(parts[:count])) for count in range(1, len(parts)))  # noqa: PTH114


def _stamp(found: _Found) -> str:
    """Return a text that changes with any change of a file; it begins with the file's kind."""
    if stat.S_ISLNK(found.seen.st_mode):
        return f"{found.kind} {os.fsdecode(os.readlink(found.full))}"  # noqa: PTH115 - names that are not text
    if not stat.S_ISREG(found.seen.st_mode):
        return f"{found.kind} {found.seen.st_rdev}"
    content = sha256()
    try:
        with os.fdopen(os.open(found.full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            while piece := file.read(_PIECE):
                content.update(piece)
    except OSError:
        times = (found.seen.st_ino, found.seen.st_mtime_ns, found.seen.st_ctime_ns)
        return f"{found.kind} unread {times}"
    return f"{found.kind} {content.hexdigest()}"


def _limit_error(what: str) -> WorkspaceFault:
    message = f"more than {what} would have to be read to find out whether an ignored file changed"
    return WorkspaceFault(message, next_step=_NARROWER)


def _forget_oldest(folder: Path) -> None:
    """Remove records that no step is likely to need any more; a step whose record is gone is not proven."""
    known = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in known[:-MAX_RECORDS]:
        path.unlink(missing_ok=True)

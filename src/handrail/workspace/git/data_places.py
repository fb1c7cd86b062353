"""Where the data folder holds worktrees, their records and private indexes, and the locks between processes."""

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git
from handrail.workspace.git.repository_view import open_view

RESERVED = frozenset({"kept", "owned", "applied"})
"""Names below `refs/handrail/` that are not runs."""
VIEW = "view"
"""The name of the folder with the view of a worktree's repository."""
RECORDS = "recorded"
"""The name of the folder with the records of files that are in no snapshot of a worktree."""
KNOWN_PATTERNS = "patterns"
"""The name of the file with the sparse patterns with which a worktree of ours was made."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_TIMEOUT = 600.0
_MOMENT = 0.005


@frozen
class DataLayout:
    """The layout of the data folder."""

    folder: Path

    def worktrees(self, root: Path, common: Path) -> Path:
        """Return the folder of a repository's worktrees."""
        return self.folder / "worktrees" / f"{safe_name(root.name or 'repository')}-{hash_path(common)}"

    def private_folder(self, tree: Path) -> Path:
        """Give, and make, the folder of what we remember about a worktree."""
        folder = self.private_path(tree)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def private_path(self, tree: Path) -> Path:
        """Give the same folder, which may not be there."""
        return self.folder / "indexes" / hash_path(tree, 24)

    def private_files(self, name: str) -> Iterator[Path]:
        """Give the files of a name that we remember about any worktree."""
        return (self.folder / "indexes").glob(f"*/{name}")

    def git(self, where: Path) -> Git:
        """Return git in a checkout or worktree, through a view of its repository."""
        if where.is_relative_to(self.folder / "worktrees"):
            return Git(where, open_view(where, self.private_folder(where) / VIEW, fixed=True))
        return Git(where, open_view(where, self.folder / "views" / hash_path(where, 24)))

    @contextmanager
    def lock(self, what: Path) -> Generator[int]:
        """Lock a repository or a worktree against all other processes and threads."""
        self.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.locks / f"{hash_path(what, 24)}.lock"
        file = _take(path, what)
        try:
            yield file
        finally:
            try:
                path.unlink(missing_ok=True)
                fcntl.flock(file, fcntl.LOCK_UN)
            finally:
                os.close(file)

    @property
    def locks(self) -> Path:
        """The folder of the locks; one that nobody holds was left by a process that died."""
        return self.folder / "locks"


def hash_path(path: Path, length: int = 8) -> str:
    """Compute a short hash of a path."""
    return sha256(os.fsencode(path)).hexdigest()[:length]


def safe_name(name: str) -> str:
    """Convert a name to one that is valid as a folder and as a part of a ref and a command; most are already."""
    if _PLAIN.fullmatch(name) and name not in RESERVED and not name.endswith(".lock"):
        return name
    cleaned = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "x"
    return f"{cleaned}-{sha256(name.encode(errors='surrogateescape')).hexdigest()[:8]}"


def write_json(path: Path, value: object, *, durable: bool = True) -> None:
    """Replace a small file atomically, so that it survives a crash whole; a durable one survives a power failure."""
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    draft.replace(path)


def read_json(path: Path) -> object:
    """Return the content of a small JSON file; None if it is missing or torn."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def copy_file(source: Path, target: Path) -> None:
    """Replace a file by a copy of another, atomically; if that one is missing, remove the file.

    The time is copied too: git compares that of an index with those of files, to know which it must read again.
    """
    if source.exists():
        draft = target.with_name(f"{target.name}.draft")
        shutil.copy2(source, draft)
        draft.replace(target)
    else:
        target.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Write a small file atomically, unless it has this content already."""
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(data)
    draft.replace(path)


def _take(path: Path, what: Path) -> int:
    until = time.monotonic() + _TIMEOUT
    while (file := try_lock(path)) is None:
        if time.monotonic() > until:
            message = f"another process has been working on {what} for {_TIMEOUT / 60:.0f} minutes"
            raise WorkspaceFault(message, next_step="stop it, or wait for it, then try again")
        time.sleep(_MOMENT)
    return file


def try_lock(path: Path) -> int | None:
    """Take a lock and return its file, or None if somebody has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    taken = False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The previous holder may have removed the file after we opened it: then our lock is on a file that is gone.
        taken = path.stat().st_ino == os.fstat(file).st_ino
    except (BlockingIOError, FileNotFoundError):
        pass
    finally:
        if not taken:
            os.close(file)
    return file if taken else None

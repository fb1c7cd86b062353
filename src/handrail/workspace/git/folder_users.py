"""Finds who is at work in a folder right now, and which locks of git were left by a process that died."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from handrail.processes.process_table import LINUX, PROC
from handrail.workspace.git.repositories import common_dir, git_dir

_OLD = 60.0


def list_processes_in(folder: Path) -> tuple[str, ...]:
    """Describe the live processes whose working folder is inside a folder; works on Linux only."""
    return tuple(f"{name} ({pid})" for pid, name in _processes_in(folder))


def clear_stale_locks(root: Path, branch: str) -> None:
    """Remove the locks that a killed git left in a worktree of ours."""
    own, common = git_dir(root), common_dir(root)
    names = (own / "index.lock", own / "HEAD.lock", common / "refs/heads" / f"{branch}.lock")
    for lock in names:
        if lock.exists() and not _is_in_use(lock, root):
            lock.unlink(missing_ok=True)


def _is_in_use(lock: Path, root: Path) -> bool:
    if not LINUX:
        return time.time() - lock.stat().st_mtime < _OLD
    return any(name.startswith("git") for _, name in _processes_in(root)) or _is_open(lock)


def _processes_in(folder: Path) -> Iterator[tuple[int, str]]:
    inside = os.fsencode(folder.resolve()) + b"/"
    for entry in PROC.glob("[0-9]*"):
        try:
            where = os.fsencode((entry / "cwd").readlink()) + b"/"
            if where.startswith(inside) and int(entry.name) != os.getpid():
                yield int(entry.name), (entry / "comm").read_text(errors="replace").strip()
        except OSError:
            continue


def _is_open(lock: Path) -> bool:
    sought = lock.resolve()
    for entry in PROC.glob("[0-9]*/fd/*"):
        try:
            if entry.readlink() == sought:
                return True
        except OSError:
            continue
    return False

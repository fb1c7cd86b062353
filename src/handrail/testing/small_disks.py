"""A disk that is soon full, for tests of what has to survive that."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def mounted(folder: Path, megabytes: int) -> Generator[bool]:
    """Mount a disk of a few megabytes at a folder; tell whether that was possible, which takes root."""
    able = os.geteuid() == 0 and _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", folder)
    try:
        yield able
    finally:
        if able:
            _run("umount", folder)


def closed(folder: Path) -> bool:
    """Let nothing be written to a mounted disk any more; tell whether that was possible."""
    return _run("mount", "-o", "remount,ro", folder)


def opened_again(folder: Path) -> bool:
    """Let a disk be written to that was closed; tell whether that was possible."""
    return _run("mount", "-o", "remount,rw", folder)


def fill(folder: Path) -> Path:
    """Leave no room on the disk of a folder; removing the file that this gives makes room again."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


def _run(*words: str | Path) -> bool:
    done = subprocess.run(words, check=False, capture_output=True)  # noqa: S603 - words of this file alone
    return done.returncode == 0

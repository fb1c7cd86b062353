"""A small disk that fills up quickly, for tests of what must survive that."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def mounted(folder: Path, megabytes: int) -> Generator[bool]:
    """Mount a disk of a few megabytes at a folder; yields whether that was possible, since it requires root."""
    able = os.geteuid() == 0 and _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", folder)
    try:
        yield able
    finally:
        if able:
            _run("umount", folder)


def closed(folder: Path) -> bool:
    """Make a mounted disk read-only; returns whether that was possible."""
    return _run("mount", "-o", "remount,ro", folder)


def opened_again(folder: Path) -> bool:
    """Make a read-only disk writable again; returns whether that was possible."""
    return _run("mount", "-o", "remount,rw", folder)


def fill(folder: Path) -> Path:
    """Fill the disk of a folder; removing the returned file frees the space again."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


def _run(*words: str | Path) -> bool:
    done = subprocess.run(words, check=False, capture_output=True)  # noqa: S603 - words of this file alone
    return done.returncode == 0

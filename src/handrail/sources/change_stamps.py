"""Tells cheaply whether anything that workflows are made of has changed: looks at files, opens none."""

import os
import time
from functools import cache
from pathlib import Path
from typing import TypeAlias

from handrail.sources.config.config import BINDINGS
from handrail.sources.foreign_files import real
from handrail.sources.library import library_root
from handrail.sources.tiers import Place, folders_of
from handrail.sources.trust.file import TrustFile
from handrail.sources.workflow_files import is_dir
from handrail.sources.workflow_snapshot import DEEPEST

Stamp: TypeAlias = tuple[tuple[str, int, int, int, int], ...]
"""Path, file, size, time of the last write and of the last change, of each."""

MOST_FILES = 20_000
_FRESH_NS = 100_000_000
"""A file written this short ago may be written again without looking different."""
_SHIPPED = frozenset({".py", ".json", ".md", ".yaml"})
_LEVELS = DEEPEST + 4


class _Restless(Exception):
    """There is too much to look at, or it is being written right now."""


def stamp_of(place: Place) -> Stamp | None:
    """Give what differs whenever a workflow, a binding, the configuration or the trust may be another.

    None where that cannot be told: then nothing that was known before may be used unseen.
    """
    looked = _Looked(time.time_ns())
    try:
        for path in _single_files(place):
            looked.at(str(path), path)
        for folder in folders_of(place):
            looked.through(folder, _LEVELS)
    except _Restless:
        return None
    return tuple((path, *seen) for path, seen in sorted(looked.found.items()))


@cache
def code_stamp() -> tuple[int, int, int]:
    """Give what differs for another version of Handrail and its library: the newest file, their number, their size."""
    files = [path.stat() for path in library_root().parent.rglob("*.*") if path.suffix in _SHIPPED]
    return max(each.st_mtime_ns for each in files), len(files), sum(each.st_size for each in files)


def _single_files(place: Place) -> list[Path]:
    own = [place.folders.config / "config.toml", TrustFile(place.folders.data).path]
    # Outside a repository a folder has its own bindings too.
    root = place.repository or place.cwd
    return own if root is None else [*own, root / ".handrail" / "config.toml", *(root / name for name in BINDINGS)]


class _Looked:
    """What was looked at, and how it looked."""

    def __init__(self, now: int) -> None:
        self.found: dict[str, tuple[int, int, int, int]] = {}
        self._now = now

    def at(self, name: str, path: "Path | os.DirEntry[str]", *, folder: bool = False) -> None:
        """Look at a file or a folder; links are followed."""
        try:
            seen = path.stat()
        except OSError:
            self.found[name] = (0, 0, 0, 0)
            return
        if len(self.found) >= MOST_FILES or (not folder and seen.st_mtime_ns > self._now - _FRESH_NS):
            raise _Restless
        self.found[name] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)

    def through(self, folder: Path, levels: int) -> None:
        """Look at a folder and what is in it; where a file is a link, also at what lies beside the file it leads to."""
        name = str(folder)
        if name in self.found or levels == 0:
            return
        self.at(name, folder, folder=True)
        try:
            with os.scandir(folder) as entries:
                inside = list(entries)
        except OSError:
            return
        for entry in inside:
            if is_dir(entry):
                self.through(folder / entry.name, levels - 1)
                continue
            self.at(entry.path, entry)
            if entry.is_symlink():
                self.through(real(folder / entry.name).parent, levels - 1)

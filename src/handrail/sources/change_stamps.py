"""Detects cheaply whether anything that workflows consist of has changed, by stat calls alone."""

import os
import time
from functools import cache
from pathlib import Path
from typing import TypeAlias

from handrail.sources.config.config import BINDINGS
from handrail.sources.foreign_files import real
from handrail.sources.library import library_root
from handrail.sources.tiers import Location, folders_of
from handrail.sources.trust.file import TrustFile
from handrail.sources.workflow_files import is_dir
from handrail.sources.workflow_snapshot import MAX_DEPTH

Stamp: TypeAlias = tuple[tuple[str, int, int, int, int], ...]
"""Path, inode, size, mtime and ctime of each file."""

MAX_FILES = 20_000
_FRESH_NS = 100_000_000
"""Age in nanoseconds below which a file may be written again without a visible change."""
_SHIPPED = frozenset({".py", ".json", ".md", ".yaml"})
_LEVELS = MAX_DEPTH + 4


class _UnstableFiles(Exception):
    """There are too many files, or one is being written right now."""


def stamp_of(place: Location) -> Stamp | None:
    """Compute a stamp that differs whenever a workflow, a binding, the configuration or the trust may have changed.

    None where that cannot be determined: then nothing that was cached may be used without reading it again.
    """
    looked = _StatCollector(time.time_ns())
    try:
        for path in _single_files(place):
            looked.look_at(str(path), path)
        for folder in folders_of(place):
            looked.look_through(folder, _LEVELS)
    except _UnstableFiles:
        return None
    return tuple((path, *seen) for path, seen in sorted(looked.found.items()))


@cache
def code_stamp() -> tuple[int, int, int]:
    """Return a stamp of this version of Handrail and its library: the newest file, the number of files, their size."""
    files = [path.stat() for path in library_root().parent.rglob("*.*") if path.suffix in _SHIPPED]
    return max(each.st_mtime_ns for each in files), len(files), sum(each.st_size for each in files)


def _single_files(place: Location) -> list[Path]:
    own = [place.folders.config / "config.toml", TrustFile(place.folders.data).path]
    # Outside a repository a folder has its own bindings too.
    root = place.repository or place.cwd
    return own if root is None else [*own, root / ".handrail" / "config.toml", *(root / name for name in BINDINGS)]


class _StatCollector:
    """Collects the stat data of files."""

    def __init__(self, now: int) -> None:
        self.found: dict[str, tuple[int, int, int, int]] = {}
        self._now = now

    def look_at(self, name: str, path: "Path | os.DirEntry[str]", *, folder: bool = False) -> None:
        """Record a file or a folder; links are followed."""
        try:
            seen = path.stat()
        except OSError:
            self.found[name] = (0, 0, 0, 0)
            return
        if len(self.found) >= MAX_FILES or (not folder and seen.st_mtime_ns > self._now - _FRESH_NS):
            raise _UnstableFiles
        self.found[name] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)

    def look_through(self, folder: Path, levels: int) -> None:
        """Record a folder and its content; where a file is a link, also the folder of the file it leads to."""
        name = str(folder)
        if name in self.found or levels == 0:
            return
        self.look_at(name, folder, folder=True)
        try:
            with os.scandir(folder) as entries:
                inside = list(entries)
        except OSError:
            return
        for entry in inside:
            if is_dir(entry):
                self.look_through(folder / entry.name, levels - 1)
                continue
            self.look_at(entry.path, entry)
            if entry.is_symlink():
                self.look_through(real(folder / entry.name).parent, levels - 1)

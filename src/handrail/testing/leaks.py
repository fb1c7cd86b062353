"""A checker that runs after every test: no process and no temporary file may be left behind.

Import `nothing_left_behind` in a `conftest.py`; it applies to every test below it that uses `tmp_path`.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.processes.keeper_pool import NURSERY

PATIENCE = 60.0
"""Seconds that a process gets to vanish; on a busy machine, one that was just killed needs some of them."""
_PROC = Path("/proc")


def processes_within(root: Path) -> list[str]:
    """Describe the live processes that work in a folder, print to it, or name it in their arguments or their mark."""
    others = (entry for entry in _PROC.glob("[0-9]*") if int(entry.name) != os.getpid())
    return sorted(f"process {entry.name}: {_words(entry)}" for entry in others if _belongs(entry, str(root).encode()))


def temporary_files(root: Path) -> list[str]:
    """List the drafts that somebody forgot to rename or to remove."""
    return sorted(str(path) for path in root.rglob("*.tmp"))


@pytest.fixture(autouse=True)
def nothing_left_behind(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Fail the test that leaves a process in `tmp_path`, a draft there, or anything in the temporary folder."""
    temporary = tmp_path_factory.mktemp("temporary")
    # Of its own, so that tests that run at the same time are not blamed for each other.
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    NURSERY.close()
    yield
    NURSERY.close()
    left = lasting_within(tmp_path) + temporary_files(tmp_path)
    left += sorted(str(path) for path in temporary.iterdir())
    if left:
        pytest.fail("left behind: " + "; ".join(left))


def lasting_within(root: Path) -> list[str]:
    """Describe those that are still there after a moment, which keepers and what was just killed take to vanish."""
    until = time.monotonic() + PATIENCE
    while (left := processes_within(root)) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def _belongs(entry: Path, root: bytes) -> bool:
    with contextlib.suppress(OSError):
        if (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z":
            return False
        where = bytes((entry / "cwd").readlink())
        marks = [one for one in (entry / "environ").read_bytes().split(b"\0") if one.startswith(b"HANDRAIL_MARK=")]
        inside = any((each + b"/").startswith(root + b"/") for each in (where, _prints_to(entry)))
        return inside or root in (entry / "cmdline").read_bytes() + b"".join(marks)
    return False


def _prints_to(entry: Path) -> bytes:
    """Name the file that a process prints to; a keeper is known by that, wherever it comes from."""
    try:
        return bytes((entry / "fd/1").readlink())
    except OSError:
        return b""


def _words(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "already gone"

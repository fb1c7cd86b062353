"""A check after every test that no process and no temporary file is left behind.

Import `nothing_left_behind` in a `conftest.py`; it applies to every test below it that uses `tmp_path`.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.processes.keeper_pool import KEEPER_POOL

TIMEOUT = 60.0
"""Seconds to wait for a process to disappear; on a busy machine, one that was just killed needs some of them."""
_PROC = Path("/proc")


def processes_within(root: Path) -> list[str]:
    """Describe live processes that run in a folder, write to it, or name it in their arguments or their mark."""
    others = (entry for entry in _PROC.glob("[0-9]*") if int(entry.name) != os.getpid())
    return sorted(f"process {entry.name}: {_words(entry)}" for entry in others if _belongs(entry, str(root).encode()))


def temporary_files(root: Path) -> list[str]:
    """List temporary files that were neither renamed nor removed."""
    return sorted(str(path) for path in root.rglob("*.tmp"))


@pytest.fixture(autouse=True)
def nothing_left_behind(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Fail a test that leaves a process or draft in `tmp_path`, or anything in the temporary folder."""
    temporary = tmp_path_factory.mktemp("temporary")
    # Each test has its own folder, so that concurrent tests are not blamed for each other.
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    KEEPER_POOL.close()
    yield
    KEEPER_POOL.close()
    left = lasting_within(tmp_path) + temporary_files(tmp_path)
    left += sorted(str(path) for path in temporary.iterdir())
    if left:
        pytest.fail("left behind: " + "; ".join(left))


def lasting_within(root: Path) -> list[str]:
    """Describe processes that remain after a grace period, which keepers and killed processes need to disappear."""
    until = time.monotonic() + TIMEOUT
    while (left := processes_within(root)) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def _belongs(entry: Path, root: bytes) -> bool:
    with contextlib.suppress(OSError):
        # A zombie has already ended and only waits for its parent.
        if (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z":
            return False
        where = bytes((entry / "cwd").readlink())
        marks = [one for one in (entry / "environ").read_bytes().split(b"\0") if one.startswith(b"HANDRAIL_MARK=")]
        inside = any((each + b"/").startswith(root + b"/") for each in (where, _prints_to(entry)))
        return inside or root in (entry / "cmdline").read_bytes() + b"".join(marks)
    return False


def _prints_to(entry: Path) -> bytes:
    """Return the file that a process writes to, which identifies a keeper wherever it was started."""
    try:
        return bytes((entry / "fd/1").readlink())
    except OSError:
        return b""


def _words(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "already gone"

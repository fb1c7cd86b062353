"""The machine's process table: which process is alive since when, its descendants, and its marks.

The keeper uses it too, which starts without site-packages and must start fast: little is imported here.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LINUX = sys.platform == "linux"
PROC = Path("/proc")
_LOOKS, _MOMENT = 25, 0.001
_KERNEL = 2
"""The parent of all threads of the Linux kernel."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER."""


class Row:
    """One process."""

    __slots__ = ("dead", "group", "parent", "pid", "started")

    def __init__(self, pid: int, parent: int, group: int, started: str, *, dead: bool = False) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.started = started
        self.dead = dead
        """Whether it is a zombie: it does nothing more, but is still the parent of its children."""


def birth_of(pid: int) -> str | None:
    """Return what distinguishes a process from a later one with the same id; None if it is dead, or a zombie."""
    row = _stat(pid) if LINUX else next((row for row in _ps("-p", str(pid))), None)
    return row.started if row and not row.dead else None


def is_alive(pid: int, started: str) -> bool:
    """Whether the process that had this id at that time is still alive."""
    return birth_of(pid) == started


def find_descendants(root: int, group: int | None = None) -> dict[int, Row]:
    """Return the live descendants of `root`, without it, and the members of a process group."""
    rows = {row.pid: row for row in _rows()}
    children: dict[int, list[int]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row.pid)
    found: dict[int, Row] = {}
    pending = children.get(root, []) + [row.pid for row in rows.values() if row.group == group]
    while pending:
        pid = pending.pop()
        if pid != root and pid not in found:
            found[pid] = rows[pid]
            pending.extend(children.get(pid, ()))
    return {pid: row for pid, row in found.items() if not row.dead}


def lineage(pid: int) -> Iterator[Row]:
    """Yield a process and its ancestors, the nearest first."""
    find = _stat if LINUX else {row.pid: row for row in _rows()}.get
    row = find(pid)
    while row is not None:
        yield row
        parent = find(row.parent)
        # The id of a dead parent may belong to a younger process.
        row = parent if parent is None or _is_older(parent, row) else find(_adopter(row))


def _adopter(row: Row) -> int:
    again = _stat(row.pid)
    return again.parent if again is not None and again.parent != row.parent else 1


def _is_older(parent: Row, child: Row) -> bool:
    if not LINUX:
        return True
    return int(parent.started.rpartition(":")[2]) <= int(child.started.rpartition(":")[2])


def outputs_of(row: Row) -> tuple[str, ...]:
    """Return the files of a process's standard output and standard error; works on Linux only."""
    found: list[str] = []
    for number in (1, 2):
        with contextlib.suppress(OSError):
            found.append(str((PROC / str(row.pid) / "fd" / str(number)).readlink()))
    return tuple(found)


def initial_environment(row: Row) -> dict[str, str]:
    """Return the variables that a process was started with, whatever it has changed since."""
    entries = (os.fsdecode(entry).partition("=") for entry in _environment(row, looks=0))
    return {name: value for name, _, value in entries if name}


def find_marked(name: str, value: str, then: str = "") -> dict[int, Row]:
    """Return the live processes whose environment sets `name` to `value`, or to `value` followed by `then` and more."""
    whole = f"{name}={value}".encode(errors="surrogateescape")
    start = whole + then.encode()
    found: dict[int, Row] = {}
    for row in _rows():
        entries = _environment(row)
        if any(entry == whole or (then and entry.startswith(start)) for entry in entries):
            found[row.pid] = row
    return found


def send(row: Row, number: int) -> None:
    """Signal a process, unless its id belongs to another one meanwhile."""
    with contextlib.suppress(OSError):
        if not LINUX:
            if is_alive(row.pid, row.started):
                os.kill(row.pid, number)
            return
        descriptor = os.pidfd_open(row.pid)
        try:
            # The descriptor pins the process that has the id now; only then is its identity checked.
            if is_alive(row.pid, row.started):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def adopt_orphans() -> bool:
    """Make descendants whose parents die our children; works on Linux only."""
    if not LINUX:
        return False
    import ctypes  # noqa: PLC0415 - only the keeper needs it

    return ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0


def _rows() -> Iterator[Row]:
    if not LINUX:
        yield from _ps("-ax")
        return
    for name in os.listdir(PROC):  # noqa: PTH208 - thousands of entries: no Path for each
        if name.isdigit() and (row := _stat(int(name))):
            yield row


def _stat(pid: int) -> Row | None:
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may contain anything, so fields are counted from the last parenthesis.
    fields = text.rpartition(b")")[2].split()
    dead = fields[0] in (b"Z", b"X")
    return Row(pid, int(fields[1]), int(fields[2]), f"{_boot()}:{fields[19].decode()}", dead=dead)


@cache
def _boot() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_bytes()[:8].decode()


def _environment(row: Row, looks: int = _LOOKS) -> list[bytes]:
    if not LINUX:
        shown = _run_ps("-E", "-ww", "-o", "command=", "-p", str(row.pid))
        return shown.encode(errors="surrogateescape").split()
    place, found = PROC / str(row.pid) / "environ", b""
    try:
        found = place.read_bytes()
        for _ in range(looks):
            # A process that executes another program has none for a moment; kernel threads never have any.
            if found or row.dead or _KERNEL in (row.pid, row.parent):
                break
            time.sleep(_MOMENT)
            found = place.read_bytes()
    except OSError:
        return []
    return found.split(b"\0")


def _ps(*which: str) -> Iterator[Row]:
    for line in _run_ps("-o", "pid=,ppid=,pgid=,stat=,lstart=", *which).splitlines():
        pid, parent, group, state, started = line.split(maxsplit=4)
        yield Row(int(pid), int(parent), int(group), started.strip(), dead=state.startswith("Z"))


def _run_ps(*arguments: str) -> str:
    import subprocess  # noqa: PLC0415 - slow to import, and not needed on Linux

    words = ["/bin/ps", *arguments]
    return subprocess.run(words, capture_output=True, text=True, errors="surrogateescape", check=False).stdout  # noqa: S603

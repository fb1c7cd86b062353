"""Remembers the git command that talks to a remote, and ends the one that a killed process has left behind.

Such a command may hang for as long as its connection does, so it does not inherit our locks: the next push need not
wait for it. The two cannot harm each other, since a remote moves a branch only from where the command found it.
"""

import signal
import time
from pathlib import Path
from typing import Any, cast

from handrail.processes.process_table import Row, birth_of, find_descendants, is_alive, send
from handrail.workspace.git.data_places import read_json, write_json

_GRACE = 2.0
"""Seconds for a command to end, after being asked to and after being killed."""
_MOMENT = 0.01


def note_process(path: Path, pid: int) -> None:
    """Remember the command that is under way."""
    born = birth_of(pid)
    if born is not None:
        write_json(path, {"pid": pid, "born": born}, durable=False)


def end_orphan(path: Path) -> None:
    """End the command that was remembered and is still there; whoever calls this holds the lock of the push."""
    found = read_json(path)
    if isinstance(found, dict):
        known = cast("dict[str, Any]", found)
        end_tree(Row(int(known["pid"]), 0, 0, str(known["born"])))
        path.unlink(missing_ok=True)


def end_tree(command: Row) -> None:
    """End a command with all that it has started, such as the connection."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_alive(command.pid, command.started):
            return
        rows = (command, *find_descendants(command.pid).values())
        for row in rows:
            send(row, number)
        _wait_for_end(rows)


def _wait_for_end(rows: tuple[Row, ...]) -> None:
    until = time.monotonic() + _GRACE
    while any(is_alive(row.pid, row.started) for row in rows) and time.monotonic() < until:
        time.sleep(_MOMENT)

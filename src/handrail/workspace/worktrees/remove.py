"""The commands that a worktree ends with: they get some time, and nothing waits for them longer than that."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from handrail.processes.environment import allowed_environment
from handrail.workspace.git.data_places import Places
from handrail.workspace.worktrees.records import WorktreeRecord

LOG = "teardown.log"
"""The file of the data folder that says which commands failed."""


def tear_down(places: Places, record: WorktreeRecord) -> None:
    """Run the tear-down commands of a worktree that is about to go; what goes wrong is noted and stops nothing."""
    until = time.monotonic() + record.teardown_timeout
    for command in record.teardown:
        why = _ran(command, Path(record.path), until)
        if why:
            with (places.folder / LOG).open("a", encoding="utf-8") as file:
                file.write(f"{record.run}: `{command}` {why}\n")


def _ran(command: str, path: Path, until: float) -> str:
    """Run one command in a group of its own, which ends with it; gives why it failed."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(  # noqa: S603 - from the trusted configuration of the user's checkout
        ["/bin/sh", "-c", command],
        cwd=path,
        env=allowed_environment(os.environ),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "took too long and was ended"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return f"ended with exit code {code}" if code else ""

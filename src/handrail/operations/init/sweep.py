"""Removes what a trial left behind when its process was killed: its commands, its worktree and its files."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.ports.delivery import Delivery
from handrail.ports.processes import Processes, Running
from handrail.runtime.handlers.commands.start_command import GRACE

PREFIX = "init."


async def sweep(trials: Path, workspaces: Delivery, processes: Processes) -> None:
    """Remove every trial in a folder whose process no longer runs."""
    for folder in sorted(trials.glob(f"{PREFIX}*")):
        if not _is_alive(folder.name.removeprefix(PREFIX)):
            for start in folder.iterdir():
                if isinstance(processes.look(str(start)), Running):
                    await processes.end(str(start), GRACE)
            _throw_away(workspaces, folder.name)
            remove_trial(folder)


def remove_trial(folder: Path) -> None:
    """Remove the files of a trial, and the folder of all trials if it was the last."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _throw_away(workspaces: Delivery, run: str) -> None:
    for repository in workspaces.repositories_of(run):
        # A repository that is gone took its worktree's entry along.
        with suppress(WorkspaceFault):
            workspaces.throw_away(repository, run)

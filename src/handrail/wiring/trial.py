"""The trial of what `handrail init` found, in a worktree of its own."""

from collections.abc import Callable
from pathlib import Path

from handrail.operations.init.trial import Trial
from handrail.runtime.handlers.commands.start_command import Starts
from handrail.wiring.machine import this_machine
from handrail.wiring.system import ShellCommands
from handrail.workspace.git_workspaces import GitWorkspaces


def new_trial(folder: Path, timeout: int, progress: Callable[[str], None]) -> Trial:
    """Get a trial ready whose worktree and files are below a data folder."""
    starts = Starts(this_machine().processes, ShellCommands())
    return Trial(folder / "trials", GitWorkspaces(folder), starts, timeout, progress)

"""The trial of what `handrail init` found, in a worktree of its own."""

from collections.abc import Callable
from pathlib import Path

from handrail.operations.init.trial import Trial
from handrail.wiring.system import make_starts
from handrail.workspace.git_workspaces import GitWorkspaces


def new_trial(folder: Path, timeout: int, progress: Callable[[str], None]) -> Trial:
    """Prepare a trial whose worktree and files are below a data folder."""
    return Trial(folder / "trials", GitWorkspaces(folder), make_starts(), timeout, progress)

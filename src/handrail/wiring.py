"""Picks the adapters, once: which log, which processes, which clock."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.model.values import Command
from handrail.ports.log import Log
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands import CommandHandler
from handrail.runtime.ports import Prepared, Workflows
from handrail.runtime.supervisor import Supervisor
from handrail.sources.folders import Folders
from handrail.store.sqlite_log import open_log
from handrail.workspace.commands import Refused, prepare
from handrail.workspace.environment import allowed_environment
from handrail.workspace.processes import LocalProcesses


class ShellCommands:
    """Commands for the machine's own shell, with the allow-listed environment."""

    def prepare(self, command: Command, values: Mapping[str, object], folder: str) -> Prepared | str:
        """Give what to run, or why a value cannot be passed."""
        made = prepare(command, values, folder)
        if isinstance(made, Refused):
            return "; ".join(f"{each.message}: {each.hint}" for each in made.refusals)
        return Prepared(made.argv, made.env)

    def environment(self) -> dict[str, str]:
        """Give the environment that every command gets."""
        return allowed_environment(os.environ)


@dataclass(frozen=True, slots=True)
class System:
    """A log with everything that drives its runs."""

    log: Log
    folder: Path
    workflows: Workflows

    def supervisor(self, name: str) -> Supervisor:
        """Make a supervisor for the runs of this log."""
        commands = CommandHandler(LocalProcesses(), ShellCommands(), self.folder / "runs", time.time)
        children = ChildHandler(self.log, self.workflows, time.time)
        return Supervisor(self.log, commands, children, time.time, name)


def open_system(folders: Folders, workflows: Workflows) -> System:
    """Open the user's database and wire it up."""
    return System(open_log(folders.data), folders.data, workflows)

"""Picks the adapters, once: which log, which processes, which clock."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.agents.registry import KnownAgents
from handrail.model.values import Command
from handrail.ports.log import Log
from handrail.runtime.handlers.agents import AgentHandler
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands import CommandHandler
from handrail.runtime.handlers.items import ItemHandler
from handrail.runtime.handlers.proofs import ProofHandler
from handrail.runtime.handlers.starts import Starts
from handrail.runtime.handlers.steps import StepHandler
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.ports import Clock, Prepared, Workflows
from handrail.runtime.supervisor import Supervisor
from handrail.sources.folders import Folders
from handrail.store.sqlite_log import open_log
from handrail.workspace.commands import Refused, prepare
from handrail.workspace.environment import allowed_environment
from handrail.workspace.git_workspaces import GitWorkspaces
from handrail.workspace.processes import LocalProcesses


class ShellCommands:
    """Commands for the machine's own shell, with the allow-listed environment."""

    def prepare(
        self, command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str]
    ) -> Prepared | str:
        """Give what to run, or why a value cannot be passed."""
        made = prepare(command, values, folder, written)
        if isinstance(made, Refused):
            return "; ".join(f"{each.message}: {each.hint}" for each in made.refusals)
        return Prepared(made.argv, made.env)

    def environment(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Give the environment that every command gets, with the variables that the run's configuration names."""
        return allowed_environment(os.environ, pass_env)


@dataclass(frozen=True, slots=True)
class System:
    """A log with everything that drives its runs."""

    log: Log
    folder: Path
    workflows: Workflows
    clock: Clock = time.time

    def supervisor(self, name: str) -> Supervisor:
        """Make a supervisor for the runs of this log."""
        folder, starts = self.folder / "runs", Starts(LocalProcesses(), ShellCommands())
        trees = TreeHandler(self.workspaces, starts, folder, self.clock)
        commands = CommandHandler(starts.processes, starts.commands, folder, self.clock, trees.restore)
        agents = AgentHandler(starts, KnownAgents(), self.log.get_blob, folder, self.clock, trees.restore)
        proofs = ProofHandler(starts.processes, starts.commands, folder)
        items = ItemHandler(self.log, self.workspaces, self.clock)
        steps = StepHandler(commands, agents, trees, proofs, items)
        children = ChildHandler(self.log, self.workflows, self.clock)
        return Supervisor(self.log, commands, children, self.clock, name, steps=steps)

    @property
    def workspaces(self) -> GitWorkspaces:
        """Give what makes and keeps work trees."""
        return GitWorkspaces(self.folder)


def open_system(folders: Folders, workflows: Workflows) -> System:
    """Open the user's database and wire it up."""
    return System(open_log(folders.data), folders.data, workflows)

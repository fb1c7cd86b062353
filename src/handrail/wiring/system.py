"""A log with everything that drives its runs."""

import os
import time
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from pathlib import Path

from handrail.agents.registry import KnownAgents
from handrail.frozen import frozen
from handrail.model.workflow.values import Command
from handrail.operations.agents.configured_agents import ConfiguredAgents
from handrail.ports.agents import Agents
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.processes.environment import allowed_environment
from handrail.processes.keeper_pool import NURSERY
from handrail.processes.shell_command import Refused, prepare
from handrail.runtime.glimpses import Glimpses
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.agents.live_messages import said_since
from handrail.runtime.handlers.agents.step_tools import Tooling
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler, Instead, as_begun
from handrail.runtime.handlers.commands.start_command import Starts
from handrail.runtime.handlers.items import ItemHandler
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.steps import StepHandler
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import Clock, Commands, Prepared, Workflows
from handrail.sources.folders import Folders
from handrail.store.signing_keys import keys_in
from handrail.wiring.machine import this_machine
from handrail.workspace.git_workspaces import GitWorkspaces


@frozen
class ShellCommands:
    """Commands for the machine's own shell, with the allow-listed environment."""

    environ: Mapping[str, str] | None = None
    """What the environment is chosen from; None for that of this process."""
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that stand in place of those."""

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
        parent = os.environ if self.environ is None else self.environ
        return {**allowed_environment(parent, pass_env), **self.more}


@frozen
class System:
    """A log with everything that drives its runs."""

    log: Log
    folder: Path
    workflows: Workflows
    clock: Clock = time.time
    commands: Commands = field(default_factory=ShellCommands)
    instead: Instead = as_begun
    """Puts other commands in the place of a step's own, where a workflow is only tested."""
    agents: Agents = field(default_factory=KnownAgents)
    bare: bool = False
    """Whether agents are started in no sandbox and without windows: where a workflow is only tested."""
    machine: Machine = field(default_factory=this_machine)

    def supervisor(self, name: str) -> Supervisor:
        """Make a supervisor for the runs of this log."""
        folder, starts = self.folder / "runs", Starts(self.machine.processes, self.commands)
        NURSERY.open()
        trees = TreeHandler(self.workspaces, starts, folder, self.clock)
        commands = CommandHandler(starts.processes, starts.commands, folder, self.clock, trees.restore, self.instead)
        tooling = Tooling(self.log, partial(keys_in, self.folder), self.folder)
        said, blobs = partial(said_since, self.log), self.log.get_blob
        agents = AgentHandler(starts, self.agents, blobs, folder, self.clock, trees.restore, self.bare, tooling, said)
        proofs = ProofHandler(starts.processes, starts.commands, folder)
        items = ItemHandler(self.log, self.workspaces, self.clock)
        steps = StepHandler(commands, agents, trees, proofs, items)
        children = ChildHandler(self.log, self.workflows, self.clock)
        return Supervisor(self.log, commands, children, self.clock, name, steps=steps)

    @property
    def glimpses(self) -> Glimpses:
        """Give what looks at the agents that are at work."""
        return Glimpses(self.machine.processes, self.agents, self.folder / "runs")

    @property
    def workspaces(self) -> GitWorkspaces:
        """Give what makes and keeps work trees."""
        return GitWorkspaces(self.folder)


def open_system(folders: Folders, workflows: Workflows, machine: Machine) -> System:
    """Open the user's database and wire it up."""
    log = machine.log_files.open(folders.data)
    return System(log, folders.data, workflows, agents=ConfiguredAgents(folders), machine=machine)

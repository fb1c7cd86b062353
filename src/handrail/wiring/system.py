"""The composition root: a log with everything that drives its runs.

The engine is pure, and the runtime and the operations know ports (protocols in `handrail.ports`), never what implements
them. This package makes that choice, so that they can be tested with other parts:

1. `machine.this_machine` puts this machine behind its ports: git, processes, SQLite, built-in agents, sandbox, tmux.
2. `open_system` opens the user's log, and joins it with that machine, the configured agents, the files that the user
   trusts, and the environment of each run. `System.supervisor` builds the handlers of all effects from these.
3. `session.open_session` adds the place in which a command was called. Most commands and the MCP servers open one.
4. A test of a workflow (`scenario_environment`) builds the same `System` with another clock, other environments and
   replaced commands, so that what is tested is what runs.

What only some commands need is imported when it is first used (`late_import`): a command has to start fast.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.agents.registry import BuiltInCatalog, KnownAgents
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.run_lines import Filter
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import Command
from handrail.operations.agents.configured_agents import ConfiguredAgents
from handrail.ports.agents import Agents
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.processes.environment import process_redactor
from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.launch import StartFolders
from handrail.processes.local import LocalProcesses
from handrail.processes.run_environment import HandedEnvironments, SharedEnvironments
from handrail.processes.shell_command import RefusedCommand, prepare
from handrail.runtime.driver import Handlers
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.agents.host import AgentHost
from handrail.runtime.handlers.agents.live_messages import messages_since
from handrail.runtime.handlers.agents.step_tools import StepToolSetup
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler, Instead, keep_intent
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.steps import StepHandler
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.history import RootFinder
from handrail.runtime.local.supervisor import Companion, Supervisor
from handrail.runtime.ports import Clock, Commands, Flows, PreparedCommand, Workflows, machine_clock
from handrail.runtime.run_writer import RunWriter
from handrail.sources.folders import Folders, folder_variables
from handrail.sources.library import builtins
from handrail.sources.tiers import here
from handrail.sources.trust.store import TrustStore
from handrail.wiring.machine import this_machine
from handrail.workspace.git_workspaces import GitWorkspaces
from handrail.workspace.sandbox import Bubblewrap
from handrail.workspace.tmux import Sessions

if TYPE_CHECKING:
    from handrail.model.issues import RepositoryRef
    from handrail.operations.runs import issue_tracker
    from handrail.ports.pull_requests import PullRequests
    from handrail.ports.repositories import TrustedFiles
    from handrail.ports.trackers import Tracker, TrackerCatalog
    from handrail.runtime import call_activity
    from handrail.runtime.handlers import items
    from handrail.runtime.handlers.trackers import create_issues
    from handrail.runtime.handlers.trackers import handler as tracker_steps
    from handrail.runtime.handlers.trackers import pull_request as pull_requests
    from handrail.sources.python import start_flow as flow_process
    from handrail.store import signing_keys
    from handrail.trackers.memory import catalog as tracker_twin
    from handrail.wiring import conversations, driver_channel, notices
    from handrail.wiring import trackers as tracker_catalog
else:
    conversations = late_import("handrail.wiring.conversations")
    tracker_catalog = late_import("handrail.wiring.trackers")
    tracker_twin = late_import("handrail.trackers.memory.catalog")
    driver_channel = late_import("handrail.wiring.driver_channel")
    flow_process = late_import("handrail.sources.python.start_flow")
    call_activity = late_import("handrail.runtime.call_activity")
    items = late_import("handrail.runtime.handlers.items")
    signing_keys = late_import("handrail.store.signing_keys")
    notices = late_import("handrail.wiring.notices")
    tracker_steps = late_import("handrail.runtime.handlers.trackers.handler")
    create_issues = late_import("handrail.runtime.handlers.trackers.create_issues")
    issue_tracker = late_import("handrail.operations.runs.issue_tracker")
    pull_requests = late_import("handrail.runtime.handlers.trackers.pull_request")


@frozen
class ShellCommands:
    """Prepares commands for the machine's own shell."""

    def prepare(
        self, command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str]
    ) -> PreparedCommand | str:
        """Return what to run, or why a value cannot be passed."""
        made = prepare(command, values, folder, written)
        if isinstance(made, RefusedCommand):
            return "; ".join(f"{each.message}: {each.hint}" for each in made.refusals)
        return PreparedCommand(made.argv, made.env)


ENVIRONMENTS = SharedEnvironments(BuiltInCatalog().account, find_login=BuiltInCatalog().login_hint)
"""Every run works in the environment of the process that drives it."""
SOCKETS = "driver/*.socket"
"""The sockets on which background drivers listen, relative to their data folder."""
FLOWS = Flows(lambda words, env: flow_process.start_flow(words, env), builtins)  # noqa: PLW0108 (loaded when used)


def make_starts() -> CommandStarter:
    """Build what starts commands on this machine."""
    return CommandStarter(this_machine().processes, ShellCommands(), ENVIRONMENTS)


def make_writer(log: Log, environments: RunEnvironments | None = None) -> RunWriter:
    """Build the writer to the runs of a log, which removes the secrets of this process and of these runs."""
    return RunWriter(log, process_redactor(), environments)


def tell_people(supervisor: Supervisor, folders: Folders, writer: RunWriter, *, watched: bool = False) -> None:
    """Let a supervisor notify people of what its runs need, if the user's configuration says how."""
    try:
        said = (folders.config / "config.toml").read_bytes()
    except OSError:
        return
    if b"notify" in said:
        notices.attach_notices(supervisor, folders, writer, watched=watched)


class LateTrackers:
    """A `TrackerCatalog` that is made with its first use: most runs need no tracker."""

    def __init__(self, make: "Callable[[], TrackerCatalog]") -> None:
        self._make = make

    def repository_of(self, remote: str, run: str = "") -> "RepositoryRef | None":
        """Return the repository that the URL of a git remote names."""
        return self._catalog.repository_of(remote, run)

    def token_for(self, repository: "RepositoryRef", run: str = "") -> str:
        """Return the token for the host of a repository; empty if there is none."""
        return self._catalog.token_for(repository, run)

    def own_place(self, run: str = "") -> str:
        """Return the place of the issues that the repository keeps on this machine."""
        return self._catalog.own_place(run)

    def tracker(self, place: str, run: str = "") -> "Tracker":
        """Return the tracker of a place."""
        return self._catalog.tracker(place, run)

    def pull_requests(self, repository: "RepositoryRef", run: str = "") -> "PullRequests":
        """Return the pull requests of the host of a repository."""
        return self._catalog.pull_requests(repository, run)

    @cached_property
    def _catalog(self) -> "TrackerCatalog":
        return self._make()


def _make_twin() -> "TrackerCatalog":
    return tracker_twin.MemoryTrackers()


OPEN = ("queued", "running", "waiting", "blocked")


def _is_any(log: Log, wanted: Filter, *, with_pull_requests: bool) -> bool:
    """Whether there is a run on an issue, or an open pull request."""
    opened = Filter(prefix="pr:", runs_only=False, status="open", limit=1)
    return bool(log.keys(wanted) or (with_pull_requests and log.keys(opened)))


def report_on_issues(
    supervisor: Supervisor, system: "System", folders: Folders, tell: "Callable[[str], None]", run: str = ""
) -> None:
    """Let a supervisor report on the issues of its runs: of one run, or of all; `tell` gets what goes wrong."""
    made: list[Companion] = []
    # All runs are looked at once: of a run that has ended, the last words may be missing. Later, only open ones matter.
    wanted = [Filter(holding=("on_issue",), top=True, limit=1, key=run or None)]

    def find() -> "Companion | None":
        if not made and _is_any(system.log, wanted[0], with_pull_requests=not run):
            beside = conversations.make_conversation(system.writer, system.trackers, folders, system.clock, run)
            beside.on_problem = tell
            if not run:
                beside.wanted = lambda each: not supervisor.is_attended(each)
            made.append(beside)
        wanted[0] = wanted[0]._replace(statuses=OPEN)
        return made[0] if made else None

    supervisor.find_companion = find


@frozen
class System:
    """A log with everything that drives its runs."""

    log: Log
    folder: Path
    workflows: Workflows
    clock: Clock = field(default_factory=machine_clock)
    commands: Commands = field(default_factory=ShellCommands)
    environments: RunEnvironments = ENVIRONMENTS
    instead: Instead = keep_intent
    """Replaces a step's own commands with others when a workflow is only tested."""
    agents: Agents = field(default_factory=KnownAgents)
    bare: bool = False
    """Whether agents are started without sandbox and windows, as when a workflow is only tested."""
    machine: Machine = field(default_factory=this_machine)
    trusted: "TrustedFiles | None" = None
    """Says which files of a repository the user has trusted; without it none are."""
    trackers: "TrackerCatalog" = field(default_factory=lambda: LateTrackers(_make_twin))
    """Makes the trackers and code hosts of runs; in memory unless the user's own log is opened."""
    tracker_setting: Callable[[str], str] = lambda _: ""
    """Returns which tracker is configured for a repository: `local`, `remote`, or nothing."""

    def supervisor(self, name: str) -> Supervisor:
        """Build a supervisor for the runs of this log."""
        folder, starts = self.folder / "runs", CommandStarter(self.machine.processes, self.commands, self.environments)
        KEEPER_POOL.open()
        trees = TreeHandler(self.workspaces, starts, folder, self.clock)
        commands = CommandHandler(starts, folder, self.clock, trees.restore, self.instead)
        tooling = StepToolSetup(
            self.log, lambda: signing_keys.keys_in(self.folder), folder_variables(self.folder, os.environ)
        )
        said = partial(messages_since, self.log)
        host = None if self.bare else AgentHost(Bubblewrap(), Sessions(self.folder), self.machine.agents.config_folders)
        agents = AgentHandler(
            *(starts, self.agents, HeldBlobs(self.log), folder, self.clock, trees.restore, host, tooling, said),
            trusted=self.trusted,
        )
        proofs = ProofHandler(starts, folder)
        workspaces = self.workspaces
        steps = StepHandler(
            *(commands, agents, trees, proofs),
            make_items=lambda: items.ItemHandler(self.log, self.environments, workspaces, self.clock),
            make_trackers=lambda: tracker_steps.TrackerHandler(self.opener, self.issue_creator),
        )
        children = ChildHandler(self.log, self.environments, self.workflows, self.clock)
        return Supervisor(self.log, Handlers(self.environments, commands, children, FLOWS, steps), self.clock, name)

    @property
    def writer(self) -> RunWriter:
        """The writer to runs, which removes the secrets of this process and of the runs."""
        return make_writer(self.log, None if self.environments is ENVIRONMENTS else self.environments)

    @property
    def activity(self) -> "call_activity.CallActivity":
        """What looks at the agents that are at work."""
        return call_activity.CallActivity(self.machine.processes, self.agents, self.folder / "runs")

    @property
    def opener(self) -> "pull_requests.PullRequestOpener":
        """What opens and updates the pull requests of runs."""
        return pull_requests.PullRequestOpener(self.log, self.workspaces, self.environments, self.trackers, self.clock)

    @property
    def issue_creator(self) -> "create_issues.IssueCreator":
        """What creates the issues of steps."""
        parts = (self.log, self.workspaces, self.environments, self.trackers)
        return create_issues.IssueCreator(*parts, self.tracker_setting)

    @property
    def workspaces(self) -> GitWorkspaces:
        """What creates and manages worktrees."""
        return GitWorkspaces(self.folder)


def open_system(folders: Folders, workflows: Workflows, machine: Machine, *, is_asking: bool = True) -> System:
    """Open the user's database and wire it up; each run has its own environment, which another process may hold."""
    log = machine.log_files.open(folders.data)
    known = HandedEnvironments(ENVIRONMENTS, RootFinder(log), partial(_fetch, folders.data) if is_asking else None)
    folders_ahead = StartFolders(folders.data / "start-folders")
    machine = replace(machine, processes=LocalProcesses(partial(_redactor_for, known), folders_ahead))
    return System(
        log,
        folders.data,
        workflows,
        environments=known,
        agents=ConfiguredAgents(machine.agents, folders),
        machine=machine,
        trusted=TrustStore(folders),
        trackers=LateTrackers(lambda: tracker_catalog.Trackers(folders, known, log)),
        tracker_setting=lambda repository: issue_tracker.read_setting(here(Path(repository), os.environ)),
    )


def _fetch(data: Path, run: str) -> Mapping[str, str] | None:
    """Ask the background driver for the environment of a run; usually there is none to ask."""
    return driver_channel.driver_environments(data).fetch(run) if any(data.glob(SOCKETS)) else None


def _redactor_for(environments: RunEnvironments, folder: str) -> Redactor:
    """Return the redactor of a run's secrets for the output of its commands, by the folder of one of them."""
    # The folder of a command is `runs/RUN/SEQ/SLOT`.
    run = folder.split("/")[-3:-2]
    return environments.environment_of(run[0] if run else "").redactor

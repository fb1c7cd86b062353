"""All agents that are known in a place: those of Handrail, of the user, and of a trusted repository."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import UsageError
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.settings import NO_POLICY, AgentPolicy
from handrail.operations.workflows.repository_config import CONFIG, RepositorySettings, read_configured
from handrail.ports.agent_definitions import AgentDefinition, LoadedDefinition
from handrail.ports.agents import Agent, AgentCatalog, AgentTable
from handrail.sources.folders import Folders
from handrail.sources.tiers import Location

if TYPE_CHECKING:
    from handrail.sources.config import agents_file
else:
    agents_file = late_import("handrail.sources.config.agents_file")

NO_SANDBOX = ("none", True)


class ConfiguredAgents:
    """The `Agents` that configuration adds to the built-in ones, read when one is looked up."""

    def __init__(self, catalog: AgentCatalog, folders: Folders, repository: Path | None = None) -> None:
        self._catalog = catalog
        self._folders = folders
        self._repository = None if repository is None else str(repository)

    @property
    def catalog(self) -> AgentCatalog:
        """The catalog of the agents that come with Handrail."""
        return self._catalog

    def find(self, name: str | None, repository: str | None = None) -> Agent:
        """Look up an agent by its name; one that only an untrusted configuration describes is refused."""
        configured = self._read_repository_config(repository or self._repository)
        described = () if configured is None else configured.config.agents
        if configured is not None and any(each.name == name for each in described):
            configured.require(f"the agent '{name}'", "needs")
        table = self._table(configured)
        if name is not None and name not in table.names:
            table = self._table(configured, self._read_known_agents())
        return table.find(name)

    def list_installed(self) -> tuple[str, ...]:
        """List the installed agents: Handrail's own and the configured ones, or else those that Handrail only knows."""
        configured = self._read_repository_config(self._repository)
        own = () if configured is None or configured.distrust else configured.config.agents
        described = tuple(each.name for each in (*_read_users_agents(self._folders), *own))
        table = self._table(configured)
        named = tuple(dict.fromkeys((*(each.name for each in self._catalog.profiles), *described)))
        return _filter_installed(table, named) or self._find_known_installed(configured)

    def variables_in(self, environ: Mapping[str, str], repository: str | None = None) -> tuple[str, ...]:
        """List the variables of an environment that any agent gets: Handrail's own, configured and known agents."""
        configured = self._read_repository_config(repository or self._repository)
        own = () if configured is None or configured.distrust else configured.config.agents
        described = (each for each in (*self._read_known_agents(), *_read_users_agents(self._folders), *own))
        named = (name for each in described if isinstance(each, AgentDefinition) for name in each.variables)
        return tuple(dict.fromkeys((*self._catalog.variables_in(environ), *named)))

    def _find_known_installed(self, configured: RepositorySettings | None) -> tuple[str, ...]:
        known = self._read_known_agents()
        return _filter_installed(self._table(configured, known), tuple(each.name for each in known))

    def _table(self, configured: RepositorySettings | None, known: tuple[LoadedDefinition, ...] = ()) -> AgentTable:
        own: tuple[LoadedDefinition, ...] = ()
        if configured is not None and not configured.distrust:
            own = configured.config.agents
        return self._catalog.define((*known, *_read_users_agents(self._folders), *own))

    def _read_known_agents(self) -> tuple[LoadedDefinition, ...]:
        return agents_file.read_agents_file(self._catalog.definitions, Report())

    def _read_repository_config(self, repository: str | None) -> RepositorySettings | None:
        return (
            None if repository is None else read_configured(Location(self._folders, Path(repository), Path(repository)))
        )


def _filter_installed(table: AgentTable, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if _is_installed(table, name))


def _is_installed(table: AgentTable, name: str) -> bool:
    try:
        return table.is_installed(name)
    except UsageError:
        # A definition that cannot be used is reported to whoever looks it up.
        return False


def _has_agent_config(folders: Folders) -> bool:
    try:
        return any((folders.config / name).exists() for name in ("config.toml", "agents.toml"))
    except OSError:
        return True  # It exists and cannot be inspected; reading it reports why.


def _read_users_agents(folders: Folders) -> tuple[LoadedDefinition, ...]:
    """Read the user's own agents; an unreadable file is an error, since nobody can know what it would say."""
    if not _has_agent_config(folders):
        return ()
    report = Report()
    found = agents_file.read_user_agents(folders, report)
    wrong = next((each for each in report if each.code in ("config-syntax", "file-unreadable")), None)
    if wrong is not None:
        raise UsageError(f"{wrong.file}:{wrong.line}: {wrong.message}", next_step="fix your agents.toml")
    return found


def override_of(agent: str, model: str, names: AgentNames) -> str:
    """Combine `--agent` and `--model`: `AGENT/MODEL`, or `/MODEL` for a model alone."""
    said = names.read(agent)
    if model and said.model and said.model != model:
        message = f"--agent {agent} names the model '{said.model}', but --model names '{model}'"
        raise UsageError(message, next_step="name the model once: --agent NAME/MODEL")
    return names.read(agent, model or None).text


def policy_of(configured: RepositorySettings | None, here: tuple[str, ...]) -> AgentPolicy:
    """Return the agent of steps that name none, and the fallbacks; an untrusted configuration does not count.

    `here` are the agents that are installed.
    """
    usual, why = (here[0], "the only agent that is installed") if len(here) == 1 else ("", "")
    if configured is not None and configured.config.sandbox != NO_SANDBOX:
        # To ignore a sandbox is not a harmless way of not trusting a configuration.
        configured.require("the sandbox of [agent]", "needs")
    if configured is None or configured.distrust:
        return AgentPolicy(usual, why) if usual else NO_POLICY
    config = configured.config
    if config.agent:
        usual, why = config.agent, f"the default of {CONFIG}"
    sandbox, network = config.sandbox
    return AgentPolicy(
        usual,
        why,
        config.fallback,
        config.limits,
        sandbox=sandbox,
        network=network,
        idle_timeout=config.idle_timeout,
    )

"""All agents that are known in a place: those of Handrail, of the user, and of a repository that is trusted."""

from pathlib import Path

from handrail.errors import UsageError
from handrail.model.diagnostics import Report
from handrail.operations.workflows.repository_config import Configured, read_configured
from handrail.ports.agent_definitions import Defined
from handrail.ports.agents import Agent, AgentCatalog, Agents, is_installed
from handrail.sources.config.agents_file import read_agents_file, read_user_agents
from handrail.sources.folders import Folders
from handrail.sources.tiers import Place


class ConfiguredAgents:
    """The `Agents` that configuration adds to the built-in ones, read when one is asked for."""

    def __init__(self, catalog: AgentCatalog, folders: Folders, repository: Path | None = None) -> None:
        self._catalog = catalog
        self._folders = folders
        self._repository = None if repository is None else str(repository)

    @property
    def catalog(self) -> AgentCatalog:
        """What is known of those that come with Handrail."""
        return self._catalog

    def find(self, name: str | None, repository: str | None = None) -> Agent:
        """Give an agent by its name; what only an untrusted configuration describes is refused."""
        configured = self._configured(repository or self._repository)
        described = () if configured is None else configured.config.agents
        if configured is not None and any(each.name == name for each in described):
            configured.require(f"the agent '{name}'", "needs")
        return self._table(configured).find(name)

    def installed(self) -> tuple[str, ...]:
        """Name the agents whose program is here: Handrail's own and the described ones, else those it only knows of."""
        configured = self._configured(self._repository)
        own = () if configured is None or configured.distrust else configured.config.agents
        described = tuple(each.name for each in (*_users(self._folders), *own))
        table = self._table(configured)
        named = tuple(dict.fromkeys((*(each.name for each in self._catalog.profiles), *described)))
        return _here(table, named) or _here(table, tuple(each.name for each in self._known()))

    def _table(self, configured: Configured | None) -> Agents:
        own: tuple[Defined, ...] = ()
        if configured is not None and not configured.distrust:
            own = configured.config.agents
        return self._catalog.define((*self._known(), *_users(self._folders), *own))

    def _known(self) -> tuple[Defined, ...]:
        return read_agents_file(self._catalog.definitions, Report())

    def _configured(self, repository: str | None) -> Configured | None:
        return None if repository is None else read_configured(Place(self._folders, Path(repository), Path(repository)))


def _here(table: Agents, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if _is_here(table, name))


def _is_here(table: Agents, name: str) -> bool:
    try:
        return is_installed(table.find(name))
    except UsageError:
        # A definition that cannot be used is told to whoever asks for it.
        return False


def _users(folders: Folders) -> tuple[Defined, ...]:
    """The user's own; a file that cannot be read at all is an error, since nobody can tell what it would say."""
    report = Report()
    found = read_user_agents(folders, report)
    wrong = next((each for each in report if each.code in ("config-syntax", "file-unreadable")), None)
    if wrong is not None:
        raise UsageError(f"{wrong.file}:{wrong.line}: {wrong.message}", next_step="correct your agents.toml")
    return found

"""The agents that are known here, by name."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from handrail.agents.profiles import PROFILES, agent_names, find_profile, load, load_profiles, make_agent, price_list
from handrail.agents.programs import PROXY, find_program
from handrail.errors import NotFound, UsageError
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.prices import PriceList
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.agent_names import AgentNames
from handrail.ports.agent_definitions import LoadedDefinition
from handrail.ports.agent_profiles import AgentProfile, ConnectedClient
from handrail.ports.agents import CASSETTE, SCRIPTED, Agent, Installable, is_installed

if TYPE_CHECKING:
    from handrail.agents import from_table, own_files
else:
    own_files = late_import("handrail.agents.own_files")
    from_table = late_import("handrail.agents.from_table")

PLAYED: Mapping[str, str] = {
    CASSETTE: "handrail.agents.played.cassette:CassetteAgent",
    SCRIPTED: "handrail.agents.played.scripted:ScriptedAgent",
}
"""Agents that only play what somebody wrote or recorded."""


@frozen
class BuiltInAgent:
    """Creates an agent that comes with Handrail; its adapter is loaded when a step asks for it."""

    name: str

    def __call__(self) -> Agent:
        """Create the agent."""
        profile = find_profile(self.name)
        return cast("Agent", load(PLAYED[self.name])()) if profile is None else make_agent(profile)

    def require_program(self) -> None:
        """Raise an error that says what to install where its program is missing."""
        profile = find_profile(self.name)
        if profile is not None:
            find_program(profile)


BUILT_IN: dict[str, Callable[[], Agent]] = {name: BuiltInAgent(name) for name in sorted((*PROFILES, *PLAYED))}
"""What creates each agent that comes with Handrail."""


class BuiltInCatalog:
    """The `AgentCatalog` of the table of profiles."""

    @property
    def profiles(self) -> tuple[AgentProfile, ...]:
        """The profiles of all vendors' agents."""
        return load_profiles()

    @property
    def clients(self) -> tuple[ConnectedClient, ...]:
        """The clients that can be connected to Handrail: agents first, then editors."""
        from handrail.agents.editors import EDITORS  # noqa: PLC0415 (a run connects nothing)

        return (*(each.client for each in load_profiles() if each.client is not None), *EDITORS)

    @property
    def definitions(self) -> Path:
        """The file with the agents that need no adapter of their own."""
        return Path(__file__).with_name("known.toml")

    @property
    def names(self) -> AgentNames:
        """The names by which people call the agents."""
        return agent_names()

    @property
    def prices(self) -> PriceList:
        """The prices of their models."""
        return price_list()

    def find(self, name: str) -> Agent:
        """Find an agent by its name, whatever is configured."""
        return KnownAgents().find(name)

    def define(self, definitions: Iterable[LoadedDefinition]) -> "KnownAgents":
        """Return these agents together with defined ones; a later one replaces an earlier one."""
        given = tuple(definitions)
        return KnownAgents({**BUILT_IN, **from_table.makers_of(given)} if given else BUILT_IN)

    def read_played(self, name: str, path: str, *, strict: bool) -> bytes:
        """Read and check the file that a playing agent is to play; a strict cassette refuses other prompts."""
        from handrail.agents.played.files import load_cassette, load_script  # noqa: PLC0415 (most runs play none)

        return load_cassette(path, strict=strict) if name == CASSETTE else load_script(path)

    def account(self, name: str, environ: Mapping[str, str]) -> str:
        """Find the account that an agent is logged in to; empty where its files do not show it."""
        profile = find_profile(name)
        return "" if profile is None else own_files.find_account(profile, environ)

    def login_hint(self, name: str, argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
        """Return how a person logs in where an agent, so started, is certainly not logged in; empty otherwise."""
        profile = find_profile(name)
        return "" if profile is None else own_files.login_hint(profile, argv, environ)

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Return the variables that any of the agents gets from an environment, including those of a proxy."""
        named = (name for profile in load_profiles() for name in profile.variables_in(environ))
        return tuple(dict.fromkeys((*named, *PROXY)))

    def config_folders(self, name: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Find the folders and files in which an agent stores its own data, as far as they exist."""
        profile = find_profile(name)
        return () if profile is None else own_files.find_config_folders(profile, environ)


class KnownAgents:
    """The `Agents` of a table, one of which may be the configured default."""

    def __init__(self, table: Mapping[str, Callable[[], Agent]] = BUILT_IN, default: str | None = None) -> None:
        self._table = dict(table)
        self._default = default
        self._made: dict[str, Agent] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all known agents."""
        return tuple(sorted(self._table))

    def find(self, name: str | None, repository: str | None = None) -> Agent:  # noqa: ARG002 - it has no agents of repositories
        """Return an agent by its name; for None, the configured one or the only one there is."""
        wanted = self._choose_default() if name is None else name
        if wanted not in self._table:
            what = "the configured agent" if name is None else "the agent"
            message = f"{what} '{wanted}' is not known{did_you_mean(wanted, self._table)}"
            raise NotFound(message, next_step=f"available agents: {', '.join(self.names) or 'none'}")
        if wanted not in self._made:
            self._made[wanted] = self._table[wanted]()
        return self._made[wanted]

    @property
    def catalog(self) -> BuiltInCatalog:
        """The catalog of those that come with Handrail."""
        return BuiltInCatalog()

    def list_installed(self) -> tuple[str, ...]:
        """List the vendors' agents whose program is on this machine."""
        return tuple(name for name in PROFILES if name in self._table and self.is_installed(name))

    def variables_in(self, environ: Mapping[str, str], repository: str | None = None) -> tuple[str, ...]:  # noqa: ARG002
        """Return the variables that any vendor's agent gets from an environment."""
        return self.catalog.variables_in(environ)

    def is_installed(self, name: str) -> bool:
        """Whether an agent can be called on this machine, without loading its adapter."""
        maker = self._table.get(name)
        return is_installed(maker if isinstance(maker, Installable) else self.find(name))

    def _choose_default(self) -> str:
        if self._default is not None:
            return self._default
        if len(self._table) == 1:
            return next(iter(self._table))
        if not self._table:
            raise NotFound(
                "no agent is configured here", next_step="install one, or play a script with `--agent scripted`"
            )
        raise UsageError("no agent was chosen", next_step=f"name one with `--agent`: {', '.join(self.names)}")

"""The agents that are known here, by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from handrail.agents.profiles import PROFILES, agent_names, find_profile, load, make_agent, price_list
from handrail.errors import NotFound, UsageError
from handrail.model.history.prices import PriceList
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.agent_names import AgentNames
from handrail.ports.agents import Agent, is_installed

PLAYED: Mapping[str, str] = {
    "cassette": "handrail.agents.played.cassette:CassetteAgent",
    "scripted": "handrail.agents.played.scripted:ScriptedAgent",
}
"""Agents that only play what somebody wrote or recorded."""


def _make(name: str) -> Agent:
    profile = find_profile(name)
    return cast("Agent", load(PLAYED[name])()) if profile is None else make_agent(profile)


BUILT_IN: dict[str, Callable[[], Agent]] = {name: partial(_make, name) for name in sorted((*PROFILES, *PLAYED))}
"""What makes each agent that comes with Handrail."""


class BuiltInCatalog:
    """The `AgentCatalog` of the table of profiles."""

    @property
    def names(self) -> AgentNames:
        """What people call the agents."""
        return agent_names()

    @property
    def prices(self) -> PriceList:
        """What their models cost."""
        return price_list()


class KnownAgents:
    """The `Agents` of a table, one of which may be the configured one."""

    def __init__(self, table: Mapping[str, Callable[[], Agent]] = BUILT_IN, default: str | None = None) -> None:
        self._table = dict(table)
        self._default = default
        self._made: dict[str, Agent] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that are known."""
        return tuple(sorted(self._table))

    def find(self, name: str | None, repository: str | None = None) -> Agent:  # noqa: ARG002 - it knows none of them
        """Give an agent by its name, None for the one that is configured or the only one there is."""
        wanted = self._chosen() if name is None else name
        if wanted not in self._table:
            raise self._unknown(wanted, configured=name is None)
        if wanted not in self._made:
            self._made[wanted] = self._table[wanted]()
        return self._made[wanted]

    @property
    def catalog(self) -> BuiltInCatalog:
        """What is known of those that come with Handrail."""
        return BuiltInCatalog()

    def installed(self) -> tuple[str, ...]:
        """Name the agents of vendors whose program is on this machine."""
        return tuple(name for name in PROFILES if name in self._table and is_installed(self.find(name)))

    def _chosen(self) -> str:
        if self._default is not None:
            return self._default
        if len(self._table) == 1:
            return next(iter(self._table))
        if not self._table:
            raise NotFound("no agent is known here", next_step="install one, or play a script with `--agent scripted`")
        raise UsageError("no agent was chosen", next_step=f"name one with `--agent`: {', '.join(self.names)}")

    def _unknown(self, name: str, *, configured: bool) -> NotFound:
        what = "the configured agent" if configured else "the agent"
        message = f"{what} '{name}' is not known{did_you_mean(name, self._table)}"
        return NotFound(message, next_step=f"the agents known here: {', '.join(self.names) or 'none'}")

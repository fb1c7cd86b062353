"""How people name an agent: by its name, by one of its other names, with a model, or by a model that only it has."""

import re
from collections.abc import Mapping
from dataclasses import field

from handrail.frozen import frozen


@frozen
class AgentChoice:
    """An agent, a model, or both; None for what is not named."""

    agent: str | None = None
    model: str | None = None

    @property
    def text(self) -> str:
        """Both as people write them: `AGENT/MODEL`."""
        return f"{self.agent or ''}/{self.model}" if self.model else self.agent or ""


@frozen
class KnownCapability:
    """A capability that an agent is known to have: by which tools, and with which access."""

    name: str
    tools: tuple[str, ...] = ()
    """By the names that workflows use for tools; without any of them it is not available."""
    access: frozenset[str] = frozenset({"read", "edit", "full"})
    """The levels of access at which it is available."""


@frozen
class AgentNames:
    """The names that people use for known agents, passed to whoever reads a name, so that no reader has a list."""

    other_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further names, in lower case, each with the name of its agent."""
    models: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """An agent with the names of the models that only it has."""
    labels: frozenset[str] = frozenset()
    """Labels of an issue that name an agent as they are; any other agent is named by `agent:NAME`."""

    capabilities: Mapping[str, tuple[KnownCapability, ...]] = field(
        default_factory=dict[str, tuple[KnownCapability, ...]]
    )
    """The known capabilities of each agent."""

    def read(self, agent: str | None, model: str | None = None) -> AgentChoice:
        """Read the name of an agent, which may include its model, or be a model that only one agent has."""
        name, _, inline = (agent or "").strip().partition("/")
        name = self.other_names.get(name.lower(), name)
        wanted = model or inline or None
        owner = self.owner_of(name)
        if owner is not None:
            return AgentChoice(owner, wanted or name)
        return AgentChoice(name or (self.owner_of(wanted) if wanted else None), wanted)

    def owner_of(self, model: str) -> str | None:
        """Find the only agent that has a model; None if several may, or none is known."""
        return next((agent for agent, models in self.models if models.fullmatch(model.lower())), None)

    def is_label(self, label: str) -> bool:
        """Whether a label of an issue alone names an agent."""
        return label.lower() in self.labels or self.owner_of(label) is not None


NO_AGENT_NAMES = AgentNames()
"""Nothing is known: every name stands for itself."""

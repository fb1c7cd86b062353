"""Every agent that comes with Handrail, one line each: the module with its profile, loaded on first use."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import cast

from handrail.model.history.prices import FamilyPrice, PriceList
from handrail.model.workflow.agent_names import AgentNames
from handrail.ports.agent_profiles import AgentProfile
from handrail.ports.agents import Agent

PROFILES: Mapping[str, str] = {
    "claude": "handrail.agents.claude.profile",
    "codex": "handrail.agents.codex.profile",
    "gemini": "handrail.agents.gemini.profile",
    "opencode": "handrail.agents.opencode.profile",
}
"""By the name of the agent. A new agent is a folder and a line here."""
ANY_AGENT = "AI_AGENT"
"""The variable in which agents of several vendors identify themselves to the commands that they run."""


@cache
def find_profile(name: str) -> AgentProfile | None:
    """Find the profile of an agent; None for one that does not come with Handrail."""
    module = PROFILES.get(name)
    return None if module is None else cast("AgentProfile", import_module(module).PROFILE)


def load_profiles() -> tuple[AgentProfile, ...]:
    """Load the profiles of all agents, in the order of the table."""
    return tuple(profile for name in PROFILES if (profile := find_profile(name)) is not None)


def agent_in_shell(environ: Mapping[str, str]) -> str:
    """Return the agent whose shell set these variables; empty where it is a person's."""
    known = (each.name for each in load_profiles() if any(environ.get(mark) for mark in each.shell_marks))
    return next(known, environ.get(ANY_AGENT, ""))


@cache
def agent_names() -> AgentNames:
    """Return the names by which people call these agents."""
    profiles = load_profiles()
    return AgentNames(
        other_names={other: each.name for each in profiles for other in each.other_names},
        models=tuple((each.name, re.compile(each.models)) for each in profiles if each.models),
        labels=frozenset(label for each in profiles for label in (each.name, *each.labels)),
        capabilities={each.name: each.capabilities for each in profiles if each.capabilities},
    )


@cache
def price_list() -> PriceList:
    """Return the prices of these agents' models; an unknown model costs as much as its agent's most expensive one."""
    profiles = load_profiles()
    families = (family for each in profiles for family in each.prices)
    dearest = (FamilyPrice(each.name, each.price) for each in profiles if each.price is not None)
    return PriceList((*families, *dearest))


def make_agent(profile: AgentProfile, program: str = "") -> Agent:
    """Load the adapter of an agent; its program may have another name on this machine."""
    return cast("Agent", load(profile.adapter)(program=program))


def load(path: str) -> type:
    """Import a class by its path, `package.module:Class`."""
    module, _, name = path.partition(":")
    return cast("type", getattr(import_module(module), name))

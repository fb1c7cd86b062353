"""The agents of this machine: whether each is there and logged in, and what it can be held to."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from handrail.agents.logins import LOGINS, Login
from handrail.agents.programs import PROGRAMS
from handrail.agents.registry import KnownAgents
from handrail.frozen import frozen
from handrail.ports.agents import Abilities
from handrail.ports.programs import Installed
from handrail.processes.machine_tools import exit_code_of

ORDER = ("read", "edit", "full")
KEPT: tuple[tuple[str, str], ...] = (
    ("tools", "tool lists"),
    ("single_turn", "single turn"),
    ("schema", "shape of the result"),
    ("system_prompt", "system prompt"),
    ("model", "model"),
    ("resume", "conversations that go on"),
    ("cost", "its cost"),
    ("mcp", "tools of Handrail"),
    ("follow_up", "words in the middle of a call"),
)
"""Fields of the abilities, as people call them."""
REFUSED = ("tools", "single_turn", "model", "resume", "mcp")
"""Those without which a step that asks for it is refused; the others are made up for."""


@frozen
class AgentHealth:
    """One agent, as it stands on this machine."""

    name: str
    installed: bool
    version: str | None
    logged_in: bool | None
    """None where that cannot be told."""
    login: str
    """How a person logs in, or installs it."""
    can: Abilities


def examine_agents(found: Mapping[str, Installed | None], environ: Mapping[str, str]) -> tuple[AgentHealth, ...]:
    """Look at every agent that has a program; nothing is asked of its service."""
    known = KnownAgents()
    names = tuple(name for name in PROGRAMS if name in found)
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        logins = pool.map(partial(_logged_in, found, environ), names)
        return tuple(
            _health(name, found[name], known.find(name).can, logged_in=logged_in)
            for name, logged_in in zip(names, logins, strict=True)
        )


def access_words(can: Abilities) -> str:
    """Name the levels of access that an agent is kept to: `read, edit, full`."""
    return ", ".join(level for level in ORDER if level in can.access)


def lacks(can: Abilities) -> tuple[str, ...]:
    """Name what a step may ask for and the agent cannot be held to."""
    levels = (f"access {level}" for level in ORDER if level not in can.access)
    return (*levels, *(words for name, words in KEPT if name in REFUSED and not getattr(can, name)))


def _health(name: str, found: Installed | None, can: Abilities, *, logged_in: bool | None) -> AgentHealth:
    if found is None:
        return AgentHealth(name, installed=False, version=None, logged_in=None, login=PROGRAMS[name].install, can=can)
    way = LOGINS.get(name, Login()).way
    return AgentHealth(name, installed=True, version=found.version, logged_in=logged_in, login=way, can=can)


def _logged_in(found: Mapping[str, Installed | None], environ: Mapping[str, str], name: str) -> bool | None:
    login = LOGINS.get(name)
    if login is None or found[name] is None:
        return None
    home = environ.get("HOME", "")
    if any(environ.get(each) for each in login.variables) or any((Path(home) / each).exists() for each in login.files):
        return True
    if not login.asks:
        return False
    code = exit_code_of(PROGRAMS[name].command, login.asks)
    return {0: True, 1: False}.get(-1 if code is None else code)

"""The agents of this machine: whether each is installed and logged in, and which limits it enforces."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from handrail.frozen import frozen
from handrail.ports.agent_profiles import AgentProfile
from handrail.ports.agents import Abilities, AgentCatalog
from handrail.ports.programs import InstalledProgram, Programs

ORDER = ("read", "edit", "full")
HEALTH_FIELDS: tuple[tuple[str, str], ...] = (
    ("tools", "tool lists"),
    ("single_turn", "single turn"),
    ("schema", "shape of the result"),
    ("system_prompt", "system prompt"),
    ("model", "model"),
    ("resume", "continued conversations"),
    ("cost", "its cost"),
    ("mcp", "Handrail's tools"),
    ("follow_up", "messages during a call"),
    ("without_project_files", "start without the repository's files"),
)
"""The fields of the abilities, with their names for people."""
REFUSED = ("tools", "single_turn", "model", "resume", "mcp", "without_project_files")
"""The abilities without which a step that asks for them is refused; Handrail makes up for the others."""


@frozen
class AgentHealth:
    """The state of one agent on this machine."""

    name: str
    installed: bool
    version: str | None
    logged_in: bool | None
    """None if that cannot be determined."""
    login: str
    """How a person logs in to it, or installs it."""
    can: Abilities


def examine_agents(
    catalog: AgentCatalog, programs: Programs, found: Mapping[str, InstalledProgram | None], environ: Mapping[str, str]
) -> tuple[AgentHealth, ...]:
    """Examine every agent whose program was looked for, without calling its service."""
    profiles = tuple(each for each in catalog.profiles if each.program in found)
    with ThreadPoolExecutor(max_workers=max(1, len(profiles))) as pool:
        asked = (each if found[each.program] else None for each in profiles)
        logins = pool.map(partial(_is_logged_in, catalog, programs, environ), asked)
        return tuple(
            _health(profile, found[profile.program], catalog.find(profile.name).can, logged_in=logged_in)
            for profile, logged_in in zip(profiles, logins, strict=True)
        )


def access_words(can: Abilities) -> str:
    """Name the levels of access that can be enforced on an agent: `read, edit, full`."""
    return ", ".join(level for level in ORDER if level in can.access)


def list_unsupported(can: Abilities) -> tuple[str, ...]:
    """List what a step may ask for and the agent cannot enforce."""
    levels = (f"access {level}" for level in ORDER if level not in can.access)
    return (*levels, *(words for name, words in HEALTH_FIELDS if name in REFUSED and not getattr(can, name)))


def _health(
    profile: AgentProfile, found: InstalledProgram | None, can: Abilities, *, logged_in: bool | None
) -> AgentHealth:
    name, way = profile.name, profile.login.way
    if found is None:
        return AgentHealth(name, installed=False, version=None, logged_in=None, login=profile.install, can=can)
    return AgentHealth(name, installed=True, version=found.version, logged_in=logged_in, login=way, can=can)


def _is_logged_in(
    catalog: AgentCatalog, programs: Programs, environ: Mapping[str, str], profile: AgentProfile | None
) -> bool | None:
    """Return whether an installed agent has a login; never False if a run could still call it."""
    if profile is None:
        return None
    login, home = profile.login, environ.get("HOME", "")
    if any(environ.get(each) for each in login.variables) or any((Path(home) / each).exists() for each in login.files):
        return True
    if not login.asks:
        return False
    code = programs.exit_code_of(profile.program, login.asks)
    if code != 1:
        return True if code == 0 else None
    return False if catalog.login_hint(profile.name, (profile.program,), environ) else None

"""The programs of agents: where they are on this machine, and what to do where one is missing."""

import shutil
from pathlib import Path

from handrail.errors import NotFound
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agent_profiles import AgentProfile

PROXY = tuple(name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower()))
"""Variables of a proxy to an agent's service, which some machines need."""


def find_program(profile: AgentProfile, command: str = "", path: str | None = None) -> str:
    """Find an agent's program, by another name if given, on a PATH or ours; raises what to install."""
    found = shutil.which(expand_home(command or profile.program), path=path)
    if found is not None:
        return found
    if command:
        message = f"the program of the agent '{profile.name}' does not exist: `{command}`"
        hint = f"correct `program` in [agents.{profile.name}] of agents.toml, or remove it"
        raise NotFound(message, next_step=hint)
    message = f"the agent '{profile.name}' is not installed: there is no `{profile.program}` on the PATH"
    raise NotFound(message, next_step=f"{profile.install}; or name another agent")


def find_described_program(given: AgentDefinition, path: str | None = None) -> str:
    """Find a definition's program on a PATH or ours; raises what to install where it is missing."""
    program = given.command[0]
    found = shutil.which(expand_home(program), path=path)
    if found is None:
        message = f"the agent '{given.name}' is not installed: there is no program `{program}` on the PATH"
        raise NotFound(message, next_step=given.install or "install it, or correct `command` in its definition")
    return found


def expand_home(command: str) -> str:
    """Expand a leading `~` of a command to the home folder."""
    return str(Path(command).expanduser()) if command.startswith("~/") else command

"""The programs of agents: where they are on this machine, and what a person does where one is missing."""

import shutil
from pathlib import Path

from handrail.errors import NotFound
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agent_profiles import AgentProfile

PROXY = tuple(name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower()))
"""The way to an agent's service, which some machines need."""


def find_program(profile: AgentProfile, command: str = "") -> str:
    """Find the path of an agent's program, which may be called otherwise here; raises what to install."""
    path = shutil.which(expanded(command or profile.program))
    if path is not None:
        return path
    if command:
        message = f"the program of the agent '{profile.name}' is not there: `{command}`"
        hint = f"correct `program` in [agents.{profile.name}] of agents.toml, or take it out"
        raise NotFound(message, next_step=hint)
    message = f"the agent '{profile.name}' is not installed: there is no `{profile.program}` on the PATH"
    raise NotFound(message, next_step=f"{profile.install}; or name another agent")


def find_described_program(given: AgentDefinition) -> str:
    """Find the path of a definition's program; raises what to install where it is missing."""
    program = given.command[0]
    path = shutil.which(expanded(program))
    if path is None:
        message = f"the agent '{given.name}' is not installed: there is no program `{program}` on the PATH"
        raise NotFound(message, next_step=given.install or "install it, or correct `command` in its definition")
    return path


def expanded(command: str) -> str:
    """Give a command with the user's folder in the place of a leading `~`."""
    return str(Path(command).expanduser()) if command.startswith("~/") else command

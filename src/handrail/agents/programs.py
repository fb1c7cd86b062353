"""The programs of agents: where they are on this machine, and how they get there."""

import shutil
from pathlib import Path
from typing import Protocol, runtime_checkable

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.ports.agents import Agent


@frozen
class Program:
    """What an agent is on the command line."""

    command: str
    install: str
    """How a person installs it and logs in."""


PROGRAMS: dict[str, Program] = {
    "claude": Program("claude", "npm install -g @anthropic-ai/claude-code, then log in with: claude"),
    "codex": Program("codex", "npm install -g @openai/codex, then log in with: codex login"),
    "gemini": Program("gemini", "npm install -g @google/gemini-cli, then log in with: gemini"),
    "opencode": Program("opencode", "npm install -g opencode-ai, then log in with: opencode auth login"),
}
"""By the name of the agent; an agent without a row needs nothing installed."""

PROXY = tuple(name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower()))
"""The way to an agent's service, which some machines need."""


def located(agent: str, command: str = "") -> str | None:
    """Give the path of an agent's program; None where it is not on the PATH, or the agent has none."""
    program = PROGRAMS.get(agent)
    return None if program is None else shutil.which(expanded(command or program.command))


def required(agent: str, command: str = "") -> str:
    """Give the path of an agent's program, which may be called otherwise here; raises what to install."""
    program = PROGRAMS[agent]
    path = located(agent, command)
    if path is not None:
        return path
    if command:
        message = f"the program of the agent '{agent}' is not there: `{command}`"
        raise NotFound(message, next_step=f"correct `program` in [agents.{agent}] of agents.toml, or take it out")
    message = f"the agent '{agent}' is not installed: there is no `{program.command}` on the PATH"
    raise NotFound(message, next_step=f"{program.install}; or name another agent")


@runtime_checkable
class Described(Protocol):
    """An agent that knows itself where its program is."""

    def require_program(self) -> None:
        """Raise what to install where the program is missing."""
        ...


def require_program(agent: Agent) -> None:
    """Raise what to install where the program of an agent is missing."""
    if isinstance(agent, Described):
        agent.require_program()
    elif agent.name in PROGRAMS:
        required(agent.name, program_of(agent))


def is_here(agent: Agent) -> bool:
    """Tell whether an agent can be called on this machine."""
    try:
        require_program(agent)
    except NotFound:
        return False
    return True


def program_of(agent: Agent) -> str:
    """Give what an agent's program is called here; nothing where it has its usual name."""
    return str(getattr(agent, "program", ""))


def expanded(command: str) -> str:
    """Give a command with the user's folder in the place of a leading `~`."""
    return str(Path(command).expanduser()) if command.startswith("~/") else command

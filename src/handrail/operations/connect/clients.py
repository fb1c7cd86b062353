"""Finds the client that is meant, and what connects it: the entry of its configuration, the skill for its agent."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from handrail.errors import NotFound, UsageError
from handrail.model.suggest import did_you_mean
from handrail.operations.connect.config_text import Data
from handrail.operations.connect.connection import FileTarget, path_in_project, path_of_user
from handrail.ports.agent_profiles import ConnectedClient
from handrail.sources.folders import HOME
from handrail.sources.library import library_root
from handrail.sources.tiers import Location

SKILL = "skills/handrail/SKILL.md"
PROGRAM = "handrail"


def find_client(clients: Sequence[ConnectedClient], name: str) -> ConnectedClient:
    """Find a client by its name."""
    known = {each.name: each for each in clients}
    if name not in known:
        message = f"'{name}' is not an agent that can be connected{did_you_mean(name, known)}"
        raise NotFound(message, next_step=f"agents that can be connected: {', '.join(known)}")
    return known[name]


def config_target(client: ConnectedClient, place: Location, environ: Mapping[str, str], *, project: bool) -> FileTarget:
    """Describe what a client's configuration should hold, the user's or a repository's."""
    if project:
        if not client.project:
            raise UsageError(f"{client.title} does not read servers from a repository", next_step="omit --project")
        # Others have the program in another place, and another home folder.
        entry = _entry(client, (PROGRAM, "mcp"), {})
        path = path_in_project(_root(place), client.project)
    else:
        variables = {HOME: environ[HOME]} if environ.get(HOME) else {}
        entry = _entry(client, (handrail_program(), "mcp"), variables)
        path = path_of_user(client.user, environ, Path.home()).resolve()
    return FileTarget(path=path, form=client.form, table=client.table, entry=entry)


def skill_target(folder: Path) -> FileTarget:
    """Describe what a folder of skills should hold."""
    text = (library_root() / SKILL).read_text("utf-8")
    return FileTarget(path=(folder / "handrail" / "SKILL.md").resolve(), form=None, entry={}, whole=text)


def skill_folder(client: ConnectedClient, place: Location, environ: Mapping[str, str], *, project: bool) -> Path:
    """Return the folder in which a client's agent looks for skills."""
    if client.skills is None:
        hint = f"handrail connect --skill DIR, with the folder where {client.title} looks for them"
        raise UsageError(f"where {client.title} looks for skills is not known", next_step=hint)
    if project:
        return path_in_project(_root(place), client.project_skills)
    return path_of_user(client.skills, environ, Path.home())


def client_command(client: ConnectedClient) -> str:
    """Return the client's own command that does the same for the user; empty if it has none."""
    return shlex.join((*client.way, handrail_program(), "mcp")) if client.way else ""


def handrail_program() -> str:
    """Return the absolute path of Handrail's program: clients may have another PATH."""
    beside = Path(sys.executable).parent / PROGRAM
    return str(beside) if beside.is_file() else shutil.which(PROGRAM) or PROGRAM


def _entry(client: ConnectedClient, words: tuple[str, ...], variables: Mapping[str, str]) -> Data:
    apart: Data = {"command": words[0], "args": list(words[1:])}
    command = {"command": list(words)} if client.command_in_one else apart
    typed = {"type": client.more["type"]} if "type" in client.more else {}
    more = {key: value for key, value in client.more.items() if key != "type"}
    return {**typed, **command, **({client.environment: dict(variables)} if variables else {}), **more}


def _root(place: Location) -> Path:
    if place.repository is None:
        raise UsageError("there is no repository here", next_step="omit --project, or go to a repository")
    return place.repository

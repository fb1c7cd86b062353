"""Any agent that speaks the Agent Client Protocol (version 1): a bridge of our own talks to it.

The agent asks before it does something, and the bridge answers by the step's access. Whether it asks before all that it
does is the agent's own affair: so it has the access `full` alone unless its definition claims more.
"""

import json
import sys
from pathlib import Path

import handrail
from handrail.agents.acp.lines import AcpLines, glimpse_of
from handrail.agents.acp.permissions import Message
from handrail.agents.acp.program import Task
from handrail.agents.programs import find_described_program
from handrail.model.workflow.settings import Access
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch

_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from handrail.agents.acp.program import main; main()"


class AcpAgent:
    """The `Agent` that calls the program of a definition through the bridge."""

    def __init__(self, definition: AgentDefinition) -> None:
        self._definition = definition

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return self._definition.name

    @property
    def can(self) -> Abilities:
        """The protocol has no lists of tools, no end after a turn, no shape of a result and no choice of a model."""
        return Abilities(
            access=frozenset(level for level, _ in self._definition.access),
            resume=True,
            model=False,
            mcp=True,
            without_project_files=bool(self._definition.without_project_files),
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """Those that the definition names."""
        return self._definition.variables

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - they count with any
        """Name the files of a repository that count, as the definition does."""
        return ProjectFiles(self._definition.project_files)

    def require_program(self) -> None:
        """Raise what to install where the program is missing."""
        find_described_program(self._definition)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Say how to start the bridge; what it has to know is written to `folder`."""
        given = self._definition
        places = {"{workspace}": call.workspace, "{folder}": folder}
        bare = given.without_project_files if call.project.files == "untrusted" else ()
        words = [find_described_program(given, call.path), *given.command[1:], *bare]
        for place, value in places.items():
            words = [words[0], *(word.replace(place, value) for word in words[1:])]
        task: Task = {
            "command": words,
            "workspace": call.workspace,
            "session": call.session,
            "access": call.access,
            "servers": _servers(call),
        }
        path = Path(folder) / "acp.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(task), encoding="utf-8")
        root = str(Path(handrail.__file__).parents[1])
        argv = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, root, str(path))
        return Launch(argv, given.env, call.prompt.encode(errors="replace"))

    def lines(self) -> AcpLines:
        """Give a reader for one call."""
        return AcpLines()

    def glimpse(self, line: bytes) -> str | None:
        """Say what a line shows it doing: the title of a tool, or what it says."""
        return glimpse_of(line)


def _servers(call: AgentCall) -> list[Message]:
    """The tools of Handrail, as the protocol names a server that the agent starts."""
    if call.server is None:
        return []
    command, *args = call.server.command
    env = [{"name": name, "value": value} for name, value in call.server.env]
    return [{"name": "handrail", "command": command, "args": args, "env": env}]

"""Any agent that speaks the Agent Client Protocol (version 1): our own bridge program talks to it.

The agent asks for permission before it acts, and the bridge answers by the step's access. Whether it asks before
everything it does is up to the agent: so it has only the access `full` unless its definition claims more.
"""

import json
import sys
from pathlib import Path

import handrail
from handrail.agents.acp.lines import AcpLines, describe_line
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
        """Its abilities: the protocol has no tool lists, no single turn, no result schema and no choice of a model."""
        return Abilities(
            access=frozenset(level for level, _ in self._definition.access),
            resume=True,
            model=False,
            mcp=True,
            without_project_files=bool(self._definition.without_project_files),
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the definition names."""
        return self._definition.variables

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - the same for all levels
        """Return the files of a repository that configure it, as the definition names them."""
        return ProjectFiles(self._definition.project_files)

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_described_program(self._definition)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Build the command that starts the bridge; its task is written to `folder`."""
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
        """Return a reader for one call."""
        return AcpLines()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: the title of a tool, or its text."""
        return describe_line(line)


def _servers(call: AgentCall) -> list[Message]:
    """Describe the server of Handrail's tools in the form of the protocol."""
    if call.server is None:
        return []
    command, *args = call.server.command
    env = [{"name": name, "value": value} for name, value in call.server.env]
    return [{"name": "handrail", "command": command, "args": args, "env": env}]

"""How a playing agent is started: its task in a folder, and a Python process that reads it there."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import handrail
from handrail.ports.agents import Abilities, AgentCall, Launch

EVERYTHING = Abilities(tools=True, single_turn=True, schema=True, resume=True, system_prompt=True, cost=True, mcp=True)
"""All abilities: whatever a step asks for can be written down."""
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); from handrail.agents.played.{} import main; main()"


def play(program: str, task: Mapping[str, object], call: AgentCall, folder: str, *words: str) -> Launch:
    """Write the task to `folder`, and build the command with which a program plays it."""
    _write(Path(folder), json.dumps(task).encode())
    # Neither the workspace nor the environment may decide which modules it loads.
    root = str(Path(handrail.__file__).parents[1])
    argv = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT.format(program), root, folder, *words)
    return Launch(argv, stdin=call.prompt.encode(errors="replace"))


def _write(folder: Path, data: bytes) -> None:
    """Write the task atomically: a process of this call that survived a crash may be reading it."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / "task.json.tmp"
    draft.write_bytes(data)
    draft.replace(folder / "task.json")

"""Reads the files that played agents play, and starts a Python process that plays them."""

import json
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import handrail
from handrail.authoring.readers.limits import MAX_BYTES
from handrail.authoring.scripts.parse import Script, require_script
from handrail.errors import EnvironmentFault, NotFound
from handrail.late_import import late_import
from handrail.ports.agents import Abilities, AgentCall, Launch

if TYPE_CHECKING:
    from handrail.authoring.scripts import cassette
else:
    cassette = late_import("handrail.authoring.scripts.cassette")

EVERYTHING = Abilities(tools=True, single_turn=True, schema=True, resume=True, system_prompt=True, cost=True, mcp=True)
"""All abilities: whatever a step asks for can be written down."""
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); from handrail.agents.played.{} import main; main()"


def read_script(path: str) -> Script:
    """Read a script file; its errors are raised, each with its position."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"the script {path} does not exist", next_step="pass the path of a script file") from None
    except OSError as error:
        raise EnvironmentFault(f"the script {path} cannot be read: {error.strerror}") from None
    return _parse_script(path, data)


@lru_cache(maxsize=4)
def _parse_script(path: str, data: bytes) -> Script:
    """Parse a script once, however many calls play it."""
    return require_script(path, data)


def read_cassette(path: str) -> "cassette.Cassette":
    """Read a cassette; raises errors that a person can act on."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"the cassette {path} does not exist", next_step=cassette.RECORD) from error
    except OSError as error:
        raise EnvironmentFault(f"the cassette {path} cannot be read: {error.strerror}") from error
    return _parse_cassette(path, data)


@lru_cache(maxsize=2)
def _parse_cassette(path: str, data: bytes) -> "cassette.Cassette":
    """Parse a cassette once, however many calls it replays."""
    return cassette.require_cassette(path, data)


def load_script(path: str) -> bytes:
    """Read and check a script, in the form that is stored with its run."""
    read_script(path)
    return Path(path).read_bytes()


def load_cassette(path: str, *, strict: bool) -> bytes:
    """Read and check a cassette, in the form that is stored with its run; a strict one refuses other prompts."""
    read_cassette(path)
    data = Path(path).read_bytes()
    return cassette.make_strict(data) if strict else data


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

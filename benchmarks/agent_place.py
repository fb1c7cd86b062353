"""A folder in which the real Claude Code and Codex work for the benchmarks: a home, a repository, a log."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.agents import json_lines
from handrail.authoring.read import read_bundle
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.errors import NotFound
from handrail.model.diagnostics import Report
from handrail.model.history.events import RunEnded, StepBegan
from handrail.model.history.trees import TreeSource
from handrail.model.source import Bundle, SourceText
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Log
from handrail.processes import mask_output as masking
from handrail.runtime.event_records import decode_event
from handrail.runtime.ports import PinnedWorkflow
from handrail.sources.library import builtins
from handrail.store.sqlite.log import open_log
from handrail.testing.models.scripts import Action, Call, Say, Shell
from handrail.testing.models.server import ModelServer
from handrail.wiring.system import System

PROGRAMS = {"claude": ("claude_agent_sdk", "_bundled/claude"), "codex": ("codex_cli_bin", "bin/codex")}
PACKAGES = "HANDRAIL_TEST_AGENTS"
THINKING = 0.5
"""Seconds until the first word of a model that is among the fastest."""
NOWHERE = "http://127.0.0.1:9"
FOLDERS = {"HOME": "home", "TMPDIR": "tmp", "CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex"}
CODEX = """
model = "gpt-5.5"
model_provider = "local"
check_for_update_on_startup = false
[features]
plugins = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
STAMPED = """#!/bin/bash
echo "$EPOCHREALTIME" >>{stamps}
{program} "$@"
code=$?
echo "$EPOCHREALTIME" >>{stamps}
exit $code
"""
WORKFLOW = """
name: bench
description: one call
steps:
  - {{name: one, agent: {agent}, access: full, handoff: none, prompt: 'Go on. [[s:{script}]]'}}
"""


@dataclass(slots=True)
class Place:
    """A folder in which real agents work: a home, a repository, a log."""

    root: Path
    _log: Log | None = None

    def __post_init__(self) -> None:
        for each in ("home", "claude", "codex", "bin", "tmp", "shop"):
            (self.root / each).mkdir()
        for words in ("init -q -b main", "config user.name Ann", "config user.email ann@example.org"):
            subprocess.run(["git", *words.split()], cwd=self.shop, check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "start"], cwd=self.shop, check=True)

    @property
    def shop(self) -> Path:
        """The repository."""
        return self.root / "shop"

    @property
    def log(self) -> Log:
        """The log of the runs."""
        if self._log is None:
            self._log = open_log(self.root / "data")
        return self._log

    @property
    def system(self) -> System:
        """What drives the runs."""
        return System(self.log, self.root / "data", _nothing)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def start(self, agent: str, script: str) -> str:
        """Start a run with one call."""
        text = WORKFLOW.format(agent=agent, script=script)
        document = read_bundle(Bundle("workflow.yaml", {"workflow.yaml": SourceText("workflow.yaml", text)}), Report())
        assert document is not None
        compiled = compile_document(document, Catalog(builtins()))
        assert compiled.plan is not None, compiled.diagnostics
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.shop, capture_output=True, text=True, check=True)
        source = TreeSource(repository=str(self.shop), base="main", commit=head.stdout.strip(), branch="work/{run}")
        return runs.start(
            self.system.writer, runs.Request(PinnedWorkflow(compiled.plan, ""), "", by="bench", source=source)
        )

    def worktree(self) -> str:
        """Make a worktree as new as that of a run: agents take longer in a folder that they do not know.

        It stays as long as the place: some file systems are slow where much was removed a moment ago.
        """
        tree = f"{tempfile.mkdtemp(dir=self.root)}/tree"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", tree], cwd=self.shop, check=True)
        return tree

    def drive(self) -> None:
        """Drive all runs to their end."""
        asyncio.run(self.system.supervisor("bench").run_until_idle())

    def written(self, run: str) -> tuple[StepBegan, RunEnded]:
        """How the call of a run was written down, and its end."""
        events = [decode_event(each) for each in self.log.read(run)]
        began = next(each for each in events if isinstance(each, StepBegan))
        return began, next(each for each in events if isinstance(each, RunEnded))

    @property
    def stamps(self) -> Path:
        """Where agents leave the time at which they begin and end."""
        return self.root / "stamps"

    def stamped(self) -> tuple[float, float]:
        """Give when the last agent began and ended, once."""
        began, ended = self.stamps.read_text().split()
        self.stamps.unlink()
        return float(began), float(ended)

    def transcript(self, run: str) -> bytes:
        """What the agent of a run printed."""
        found = sorted((self.root / "data" / "runs" / run).glob("*/agent.*/stdout"))
        return b"".join(each.read_bytes() for each in found)


def program(name: str) -> Path | None:
    """Find an agent's own binary, in the package that brings it."""
    package, inner = PROGRAMS[name]
    found = importlib.util.find_spec(package)
    folders = [Path(each) for each in (found.submodule_search_locations or ())] if found else []
    if os.environ.get(PACKAGES):
        folders.append(Path(os.environ[PACKAGES]) / package)
    return next((each / inner for each in folders if (each / inner).is_file()), None)


def scripts() -> dict[str, list[Action]]:
    """What the model does: a word, the same after a while, and a call with tools."""
    source = str(Path(masking.__file__))
    look = Shell(f"cat {source} {json_lines.__file__}")
    edits: list[Action] = [
        Call("Write", {"file_path": f"f{n}.py", "content": Path(source).read_text()}) for n in (1, 2)
    ]
    return {
        "say": [Say("All done.")],
        "think": [Say("All done.", after=THINKING)],
        "work-claude": [look, Call("Read", {"file_path": source}), *edits, look, Say("All done.")],
        "work-codex": [look, Shell("ls -la"), look, Shell("git status"), look, Say("All done.")],
    }


@contextmanager
def model_aside() -> Generator[str]:
    """Serve the scripted model from a process of its own, where nothing that is measured gets in its way."""
    with subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None
        yield ran.stdout.readline().strip()


def prepare_agents(place: Place, url: str) -> list[str]:
    """Put the agents that are here on the PATH, with a configuration of their own and a key that opens nothing."""
    names = [name for name in PROGRAMS if program(name) is not None]
    for name in names:
        path = place.root / "bin" / name
        path.write_text(STAMPED.format(stamps=place.stamps, program=program(name)))
        path.chmod(0o755)
    (place.root / "codex" / "config.toml").write_text(CODEX.format(url=url))
    os.environ |= {
        "PATH": f"{place.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        **{name: str(place.root / folder) for name, folder in FOLDERS.items()},
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        **dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), "no-key-at-all"),
        "ANTHROPIC_BASE_URL": url,
    }
    return names


def _nothing(name: str, _: str) -> PinnedWorkflow:
    raise NotFound(f"there is no workflow '{name}'")


if __name__ == "__main__":
    with ModelServer(scripts()) as served:
        print(served.url, flush=True)
        sys.stdin.read()

"""A room in which the scripted agent is called for real, in a workspace below a temporary folder."""

import asyncio
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handrail.agents.played.scripted import ScriptedAgent
from handrail.ports.agents import AgentCall, AgentOutcome
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.processes.local import LocalProcesses

LONG = 60.0
"""Seconds within which all of this ends on the slowest machine; nothing waits for it when all is well."""


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a call."""

    outcome: AgentOutcome
    lines: tuple[dict[str, Any], ...]
    shown: tuple[str, ...]


@dataclass(slots=True)
class AgentRoom:
    """Writes a script, calls the agent by it, and waits for the end."""

    root: Path
    agent: ScriptedAgent = field(default_factory=ScriptedAgent)
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    count: int = 0

    @property
    def workspace(self) -> Path:
        folder = self.root / "workspace"
        folder.mkdir(exist_ok=True)
        return folder

    def script(self, text: str) -> Path:
        path = self.root / "script.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def call(self, address: str = "work", turn: int = 1) -> AgentCall:
        options = {"script": str(self.root / "script.yaml")}
        workspace = str(self.workspace)
        return AgentCall(run="demo-1", address=address, turn=turn, prompt="", workspace=workspace, options=options)

    def start(self, call: AgentCall) -> ProcessSpec:
        """Start a call in a folder of its own."""
        self.count += 1
        folder = self.root / f"call-{self.count}"
        launch = self.agent.launch(call, str(folder))
        env = (("PATH", os.environ["PATH"]), *launch.env)
        spec = ProcessSpec(f"demo-1:{self.count}", launch.argv, str(self.root), env, str(folder), stdin=launch.stdin)
        self.processes.start(spec)
        return spec

    def wait(self, spec: ProcessSpec) -> Played:
        ended = asyncio.run(self.processes.wait(spec.folder, LONG))
        assert isinstance(ended, Ended | Gone), ended
        return self.read(spec, ended)

    def read(self, spec: ProcessSpec, ended: Ended | Gone) -> Played:
        raw = self.processes.read_output(spec.folder, "stdout", 1 << 26, tail=False).splitlines()
        reader = self.agent.lines()
        shown = tuple(text for line in raw if (text := reader.feed(line)))
        return Played(reader.outcome(ended), tuple(json.loads(line) for line in raw), shown)

    def end(self, spec: ProcessSpec) -> Played:
        """End a call as a person who stops it does."""
        return self.read(spec, asyncio.run(self.processes.end(spec.folder, (LONG, LONG))))

    def play(self, turns: str, **changes: Any) -> Played:
        """Play the turns of the step `work`, given as YAML, once."""
        self.script(f"work: {turns}\n")
        return self.wait(self.start(replace(self.call(), **changes)))

    def until(self, path: Path) -> None:
        """Wait until a call has made a file."""
        asyncio.run(_appears(path))


async def _appears(path: Path) -> None:
    async with asyncio.timeout(LONG):
        while not path.exists():
            await asyncio.sleep(0.01)

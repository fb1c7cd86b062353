"""A room in which any agent is called for real, without a run around it."""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

from handrail.ports.agents import Agent, AgentCall, AgentOutcome
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.processes.local import LocalProcesses

LONG = 60.0
"""Seconds within which all of this ends on the slowest machine; nothing waits for it when all is well."""


@dataclass(slots=True)
class CallRoom:
    """Starts calls in a workspace, awaits them, and reads what became of them."""

    root: Path
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    count: int = 0
    shown: list[str] = field(default_factory=list[str])

    @property
    def workspace(self) -> Path:
        folder = self.root / "workspace"
        folder.mkdir(exist_ok=True)
        return folder

    def call(self, prompt: str = "do it", **changes: object) -> AgentCall:
        asked = {"run": "r", "address": "one", "turn": 1, "prompt": prompt, "workspace": str(self.workspace)}
        return AgentCall(**{**asked, "access": "full", **changes})  # pyright: ignore[reportArgumentType]

    def start(self, agent: Agent, call: AgentCall) -> ProcessSpec:
        self.count += 1
        folder = self.root / f"call-{self.count}"
        folder.mkdir()
        launch = agent.launch(call, str(folder / "input"))
        env = (("PATH", os.environ["PATH"]), *launch.env)
        spec = ProcessSpec(
            f"r:{self.count}", launch.argv, call.workspace, env, str(folder / "process"), stdin=launch.stdin
        )
        self.processes.start(spec)
        return spec

    def read(self, agent: Agent, spec: ProcessSpec, ended: Ended | Gone) -> AgentOutcome:
        reader = agent.lines()
        raw = self.processes.read_output(spec.folder, "stdout", 1 << 26, tail=False).splitlines()
        self.shown = [text for line in raw if (text := reader.feed(line))]
        return reader.outcome(ended)

    def play(self, agent: Agent, prompt: str = "do it", **changes: object) -> AgentOutcome:
        spec = self.start(agent, self.call(prompt, **changes))
        ended = asyncio.run(self.processes.wait(spec.folder, LONG))
        assert isinstance(ended, Ended | Gone), ended
        return self.read(agent, spec, ended)

    def end(self, agent: Agent, spec: ProcessSpec) -> AgentOutcome:
        """End a call as a person who stops it does."""
        return self.read(agent, spec, asyncio.run(self.processes.end(spec.folder, (LONG, LONG))))

    def until(self, path: Path) -> None:
        asyncio.run(_appears(path))


async def _appears(path: Path) -> None:
    async with asyncio.timeout(LONG):
        while not path.exists():
            await asyncio.sleep(0.01)

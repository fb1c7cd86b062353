"""Clients on a log in memory: several of them are to each other as several processes are."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from handrail.client import Client, Run, RunEvent
from handrail.model.actors import Actor, make_person
from handrail.operations.driving.follow import PATIENCE
from handrail.wiring.session import Session
from support.differences.performers import Play
from support.differences.workbench import Workbench

T = TypeVar("T")
ANN = make_person("ann")
ASKING = """\
name: ask
input: {task: string}
steps:
  - {name: draft, prompt: "Write about {{ task }}.", output: text}
  - {name: ok, type: approval, message: 'Is "${text}" good?', revise: draft, max: 1}
  - {name: ship, command: 'echo shipped', output: shipped}
"""
PLAIN = """\
name: plain
steps:
  - {name: greet, command: 'echo hello', output: greeting}
"""
SLOW = """\
name: slow
steps:
  - {name: wait, command: 'echo hang-for-ever'}
  - {name: last, command: 'echo done', output: said}
"""


@dataclass(slots=True)
class ClientRoom:
    """A user with workflows, and the programs that use them."""

    folder: Path
    plays: dict[str, Play | list[Play]] = field(default_factory=dict[str, "Play | list[Play]"])
    git: bool = False
    bench: Workbench = field(init=False)

    def __post_init__(self) -> None:
        self.bench = Workbench(self.folder, plays=self.plays, git=self.git)
        for name, text in (("ask", ASKING), ("plain", PLAIN), ("slow", SLOW)):
            self.bench.add(text, name)

    @asynccontextmanager
    async def open(self, actor: Actor = ANN, patience: float = PATIENCE) -> AsyncGenerator[Client]:
        """Open a client as another process would."""
        system = replace(self.bench.system, log=self.bench.world.open(), bare=True)
        client = Client(Session(self.bench.place, system), lambda: actor, patience)
        try:
            yield client
        finally:
            await client.close()
            system.log.close()

    async def start(self, client: Client, workflow: str, task: str = "") -> Run:
        """Start a run in the folder as it is."""
        return await client.start(workflow, task=task, agent="claude", in_place=self.bench.work)

    def finish_command(self) -> None:
        """Let the commands that hang come to their end."""
        for spec in self.bench.processes.started:
            self.bench.processes.finish(spec.folder, 0)


def play(coroutine: Callable[[], Awaitable[T]]) -> T:
    """Run a test of a program."""

    async def limit() -> T:
        return await asyncio.wait_for(coroutine(), 60)

    return asyncio.run(limit())


async def collect(run: Run, after: int = 0) -> list[RunEvent]:
    """List the events until the run has come to rest."""
    return [event async for event in run.events(after)]

"""A room in which runs call real agents, in work trees of a real repository, against the scripted model."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from handrail.errors import NotFound
from handrail.model.history.events import StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import TreeSource
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Log
from handrail.processes.local import LocalProcesses
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.run_writer import RunWriter
from handrail.store.sqlite.log import open_log
from handrail.testing.models.server import ModelServer
from handrail.wiring.system import System, make_writer
from support.agents.real_agents import Home
from support.compiler.native_case import compile_text, shown

LONG = 60.0
NOW = 1_800_000_000.0
T = TypeVar("T")
Stage: TypeAlias = tuple[Callable[[], object], Callable[[], bool]]
"""What is done, and when."""
DRIVE = """
import asyncio, sys
from pathlib import Path
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import System
data = Path(sys.argv[1])
system = System(open_log(data), data, None, lambda: float(sys.argv[2]))
asyncio.run(system.supervisor("other").run_until_idle())
"""


def workflow(*steps: str) -> str:
    """Give a workflow of steps, each a YAML map in one line."""
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)


@dataclass(slots=True)
class RealRoom:
    """A repository, a log, a model, and the agents that work for them."""

    root: Path
    home: Home
    model: ModelServer
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    now: float = NOW
    _log: Log | None = None

    def __post_init__(self) -> None:
        self.repo.mkdir()
        for words in (
            "init -q -b main",
            "config user.name Ann",
            "config user.email ann@example.org",
            "commit -q --allow-empty -m start",
        ):
            subprocess.run(["git", *words.split()], cwd=self.repo, check=True, timeout=LONG)

    @property
    def repo(self) -> Path:
        return self.root / "shop"

    @property
    def log(self) -> Log:
        if self._log is None:
            self._log = open_log(self.root / "data")
        return self._log

    @property
    def writer(self) -> RunWriter:
        return make_writer(self.log)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def commit(self, name: str, text: str) -> None:
        """Put a file into the repository."""
        (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
        (self.repo / name).write_text(text)
        for words in ("add -A", "commit -q -m more"):
            subprocess.run(["git", *words.split()], cwd=self.repo, check=True, timeout=LONG)

    def start(self, *steps: str) -> str:
        """Start a run of some steps."""
        compiled, _, _ = compile_text(workflow(*steps))
        assert compiled.plan is not None, shown(compiled.diagnostics)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.repo, capture_output=True, text=True, check=True)
        source = TreeSource(repository=str(self.repo), base="main", commit=head.stdout.strip(), branch="work/{run}")
        pinned = PinnedWorkflow(compiled.plan, compiled.hash or "")
        return runs.start(self.writer, runs.Request(pinned, "", by="ann", source=source))

    def drive(self) -> None:
        """Drive all runs until none can move by itself; the clock of the runs stands still."""
        asyncio.run(self._system().supervisor("tester").run_until_idle())

    def run(self, *steps: str) -> RunState:
        run = self.start(*steps)
        self.drive()
        return self.state(run)

    def during(self, act: Callable[[], object], ready: Callable[[], bool], *more: Stage) -> None:
        """Drive, and act meanwhile, each time as soon as something is so."""

        async def both() -> None:
            driving = asyncio.ensure_future(self._system().supervisor("tester").run_until_idle())
            for acts, is_so in ((act, ready), *more):
                await until(is_so, driving.done)
                acts()
            await driving

        asyncio.run(both())

    def dying(self, *stages: Stage) -> None:
        """Drive in a process of its own, act meanwhile, and kill that process after the last act."""
        words = [sys.executable, "-c", DRIVE, str(self.root / "data"), str(NOW)]
        driver = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            for act, ready in stages:
                asyncio.run(until(ready, lambda: driver.poll() is not None))
                act()
        finally:
            driver.kill()
            driver.wait()

    def state(self, run: str) -> RunState:
        return state_of(self.log, run)

    def tree(self, run: str) -> Path:
        tree = self.state(run).tree
        assert tree is not None
        return Path(tree.path)

    def ending(self, run: str, address: str = "one") -> StepEnded:
        """How a step ended the last time."""
        return [each for each in self._events(run, StepEnded) if each.address == address][-1]

    def spent(self, run: str, address: str = "one") -> dict[str, Any]:
        return cast("dict[str, Any]", self.ending(run, address).details["spent"])

    def transcript(self, run: str) -> list[bytes]:
        """What the agents of a run printed."""
        found = sorted((self.root / "data" / "runs" / run).glob("*/agent.*/stdout"))
        return [line for each in found for line in each.read_bytes().splitlines()]

    def marked(self, run: str) -> dict[int, str]:
        """The live processes of a run's newest call, each with its program."""
        seq = [stored.seq for stored in self.log.read(run) if isinstance(decode_event(stored), StepBegan)][-1]
        # By its folder too: a test beside this one may have a run of the same name.
        folder = self.root / "data" / "runs" / run / str(seq) / "agent.0"
        return {pid: _program(pid) for pid in self.processes.find_by_marker(f"{run}:{seq}:agent.0@{folder}")}

    def _events(self, run: str, kind: type[T]) -> list[T]:
        return [event for stored in self.log.read(run) if isinstance(event := decode_event(stored), kind)]

    def _system(self) -> System:
        return System(self.log, self.root / "data", _nothing, lambda: self.now)


async def until(ready: Callable[[], bool], is_over: Callable[[], bool] = lambda: False) -> None:
    """Wait until something is so, for a bounded time."""
    end = time.monotonic() + LONG
    while not ready():
        assert time.monotonic() < end, "it never became so"
        assert not is_over(), "it ended before"
        await asyncio.sleep(0.01)


def _nothing(name: str, _: str) -> PinnedWorkflow:
    raise NotFound(f"there is no workflow '{name}'")


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""

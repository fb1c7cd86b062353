"""A room in which tests run real workflows on a real database, with real processes."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw

from handrail.engine.fold.apply import apply
from handrail.errors import NotFound
from handrail.model.history.events import Event, StepBegan, StepEnded
from handrail.model.history.run_lines import is_run
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Holder, Log, OnPoint
from handrail.runtime.driver import Handlers
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.history import events_of, state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import Clock, PinnedWorkflow, Workflows
from handrail.runtime.run_writer import RunWriter
from handrail.store.sqlite.log import open_log
from handrail.testing.leaks import processes_within
from handrail.wiring.system import ENVIRONMENTS, FLOWS, make_starts, make_writer
from support.compiler.native_case import compile_text, shown
from support.places import TESTS

LONG = 60.0
"""Seconds within which everything here happens on the slowest machine; nothing waits for it when all is well."""
T = TypeVar("T", bound=Event)
DRIVE = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from support.runtime.room import Room
room = object.__new__(Room)
room.folder, room.workflows, room.on_point, room._log = Path({folder!r}), {workflows!r}, None, None
room.drive()
"""


def pinned(text: str, workflows: dict[str, str] | None = None) -> PinnedWorkflow:
    """Compile a workflow."""
    compiled, _, _ = compile_text(text, workflows=workflows)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    assert compiled.hash is not None
    return PinnedWorkflow(compiled.plan, compiled.hash)


def library(workflows: dict[str, str]) -> Workflows:
    """Give what finds workflows that are given as texts."""

    def find(name: str, _: str) -> PinnedWorkflow:
        if name not in workflows:
            raise NotFound(f"there is no workflow '{name}'")
        return pinned(workflows[name], workflows)

    return find


def supervisor_of(log: Log, folder: Path, workflows: dict[str, str], clock: Clock = time.time) -> Supervisor:
    """Make a supervisor whose commands are real."""
    commands = CommandHandler(make_starts(), folder / "runs", clock)
    children = ChildHandler(log, ENVIRONMENTS, library(workflows), clock)
    return Supervisor(log, Handlers(ENVIRONMENTS, commands, children, FLOWS), clock, "tester")


def of_kind(log: Log, run: str, kind: type[T]) -> list[T]:
    """Give the events of one kind."""
    return [event for _, event in events_of(log, run) if isinstance(event, kind)]


def fold_from_zero(log: Log, run: str) -> RunState:
    """Fold all events of a run, without a checkpoint."""
    state: RunState | None = None
    for stored in log.read(run):
        state = apply(state, decode_event(stored), stored.seq, log.get_blob)
    assert state is not None
    return state


def assert_sound(log: Log) -> None:
    """Every run: replay gives the state, no outcome stands twice, every outcome has its intent, no lease is left."""
    for run in filter(is_run, log.streams()):
        events = dict(events_of(log, run))
        assert fold_from_zero(log, run) == state_of(log, run)
        ended = [event.began for event in events.values() if isinstance(event, StepEnded)]
        assert len(ended) == len(set(ended)), f"{run} has an outcome twice"
        assert all(events[seq].kind in ("step_began", "child_started", "step_refused") for seq in ended)
        assert not isinstance(log.holder(run), Holder)
    assert log.check().is_healthy


@dataclass(slots=True)
class Room:
    """A folder with a database, a workspace and what runs in it."""

    folder: Path
    workflows: dict[str, str] = field(default_factory=dict[str, str])
    on_point: OnPoint | None = None
    _log: Log | None = None

    def __post_init__(self) -> None:
        self.workspace.mkdir()

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Log:
        if self._log is None:
            self._log = open_log(self.data, on_point=self.on_point)
        return self._log

    @property
    def writer(self) -> RunWriter:
        return make_writer(self.log)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def start(self, text: str, **inputs: JsonValue) -> str:
        made = pinned(text, self.workflows)
        return runs.start(self.writer, runs.Request(made, str(self.workspace), dict(inputs)))

    def supervisor(self, clock: Clock = time.time) -> Supervisor:
        return supervisor_of(self.log, self.data, self.workflows, clock)

    def drive(self, clock: Clock = time.time) -> None:
        asyncio.run(self.supervisor(clock).run_until_idle())

    def run(self, text: str, **inputs: JsonValue) -> RunState:
        run = self.start(text, **inputs)
        self.drive()
        return self.state(run)

    def state(self, run: str) -> RunState:
        return state_of(self.log, run)

    def began(self, run: str) -> list[str]:
        return [event.address for event in of_kind(self.log, run, StepBegan)]

    def trace(self) -> list[str]:
        """The lines that commands left in `trace`."""
        path = self.workspace / "trace"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def during(self, act: Callable[[], None], ready: Callable[[], bool]) -> None:
        """Drive, and act once while the runs are driven, as soon as something is so."""

        async def both() -> None:
            driving = asyncio.ensure_future(self.supervisor().run_until_idle())
            await until(ready)
            act()
            await asyncio.wait_for(driving, LONG)

        asyncio.run(both())


async def until(ready: Callable[[], bool]) -> None:
    """Wait until something is so, for a bounded time."""
    end = time.monotonic() + LONG
    while not ready():
        assert time.monotonic() < end, "it never became so"
        await asyncio.sleep(0.005)


def steps_of(state: RunState) -> dict[str, Any]:
    """What is known of each step, without times."""
    return {
        address: (step.status, step.output, step.attempts, step.exit_code, step.error)
        for address, step in sorted(state.steps.items())
    }


def damage(room: Room, statement: str, *values: str) -> None:
    """Change the database behind the log's back; the log must be closed."""
    connection = apsw.Connection(str(room.data / "handrail.db"))
    cursor = connection.cursor()
    cursor.execute(statement, values)  # pyright: ignore[reportUnknownMemberType]  # apsw has no types for bindings
    assert connection.changes() > 0
    connection.close()


def drive_elsewhere(room: Room) -> "subprocess.Popen[bytes]":
    """Drive the runs of a room in another process."""
    text = DRIVE.format(tests=str(TESTS), folder=str(room.folder), workflows=room.workflows)
    return subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.DEVNULL)


def left_in(room: Room) -> list[str]:
    """The processes that still work in the room's folder for a command."""
    return [each for each in processes_within(room.workspace) if "sleep" in each]

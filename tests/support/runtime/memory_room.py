"""Runs in memory: random plans, a clock that jumps to whatever is waited for, performers that decide by chance."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from handrail.errors import UsageError
from handrail.model.history.run_state import RunState
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.actions import (
    Action,
    ApprovalAction,
    CallAction,
    Checks,
    Each,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    NamedCommand,
    ScriptAction,
    Times,
    Until,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import OnFail, Retry
from handrail.model.workflow.values import Command, Constant, Expression, NamedValue
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Append, Lease, Log, NewEvent, OnPoint
from handrail.ports.processes import ProcessSpec
from handrail.processes.secret_forms import FORMS
from handrail.runtime.driver import Handlers
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.history import state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import PinnedWorkflow, PreparedCommand
from handrail.runtime.run_summary import summary_of, timers_of
from handrail.runtime.run_writer import RunWriter
from handrail.store.memory.log import MemoryWorld
from handrail.testing.memory_environments import MemoryEnvironments
from handrail.testing.memory_processes import MemoryProcesses, ScriptedCommand
from handrail.wiring.system import FLOWS
from support.runtime.room import steps_of

CONDITIONS = ("true", "false", "run.workflow == 'random'", "previous_step.status == 'succeeded'")
ON_FAIL: tuple[OnFail, ...] = ("block", "fail", "continue", "warn")
CHILD = Plan(name="other", steps=(Step(name="c", action=ScriptAction(Command("echo c")), output="oc", on_fail="fail"),))


def _child(_: str, __: str) -> PinnedWorkflow:
    return PinnedWorkflow(CHILD, "sha256:1")


class PlainCommands:
    """Commands as they are."""

    def prepare(
        self,
        command: Command,
        values: Mapping[str, object],  # noqa: ARG002
        folder: str,  # noqa: ARG002
        written: Mapping[str, str],  # noqa: ARG002
    ) -> PreparedCommand | str:
        return PreparedCommand(("sh", "-c", command.script), ())


@dataclass
class MemoryRoom:
    """A machine that exists only here; what a command does depends on the chance and its key, never on the order."""

    chance: int = 0
    on_point: OnPoint | None = None
    now: float = 1000.0
    lived: list[RunState] = field(default_factory=list[RunState])

    def __post_init__(self) -> None:
        self.log: Log = MemoryWorld(self.clock).open(self.on_point)
        self.processes = MemoryProcesses(self._perform)

    @property
    def writer(self) -> RunWriter:
        return RunWriter(self.log, Redactor({}, FORMS))

    def clock(self) -> float:
        return self.now

    def _perform(self, spec: ProcessSpec) -> ScriptedCommand:
        chance = random.Random(f"{self.chance} {spec.key}")
        return ScriptedCommand(f"said {chance.randint(0, 3)}\n".encode(), exit_code=0 if chance.random() < 0.75 else 1)

    def start(self, plan: Plan) -> str:
        return runs.start(self.writer, runs.Request(PinnedWorkflow(plan, "sha256:0"), "/w"))

    def drive(self) -> None:
        environments = MemoryEnvironments()
        starts = CommandStarter(self.processes, PlainCommands(), environments)
        commands = CommandHandler(starts, Path("/effects"), self.clock)
        handlers = Handlers(environments, commands, ChildHandler(self.log, environments, _child, self.clock), FLOWS)
        supervisor = Supervisor(self.log, handlers, self.clock, "memory", on_state=self.lived.append)
        asyncio.run(supervisor.run_until_idle())

    def finish(self, run: str) -> RunState:
        """Drive, let time pass and persons answer, until the run needs more than that."""
        for _ in range(200):
            self.drive()
            state = state_of(self.log, run)
            if state.until is not None and state.reason == "timer":
                self.now = max(self.now, state.until)
            elif state.reason == "approval" and state.pending is not None:
                chance = random.Random(f"{self.chance} {state.pending.address} {state.pending.seq}")
                runs.answer(self.writer, run, chance.choice(["approve", "approve", "reject"]), "me")
            else:
                return state
        raise UsageError("the run does not end")

    def copy_first(self, count: int) -> "MemoryRoom":
        """Another machine whose log has the first events of this one, and nothing else."""
        other = MemoryRoom(self.chance, now=self.now)
        digests = {state_of(self.log, name).plan for name in self.log.streams()}
        for digest in digests:
            other.log.put_blob(self.log.get_blob(digest))
        for event in self.log.read_all(limit=count):
            new = NewEvent(event.kind, event.version, event.payload)
            lease = [] if event.seq == 1 else [_leased(other.log, event.stream)]
            other.log.append([Append(event.stream, event.seq - 1, (new,))], lease)
            state = state_of(other.log, event.stream)
            lease = lease or [_leased(other.log, event.stream)]
            timers = timers_of(state, state)
            other.log.append([Append(event.stream, event.seq, timers=timers, summary=summary_of(state))], lease)
            other.log.release(lease[0])
        return other


def _leased(log: Log, stream: str) -> Lease:
    lease = log.acquire(stream, "copy")
    assert isinstance(lease, Lease)
    return lease


def meaning(log: Log) -> dict[str, Any]:
    """What came of all runs, without times."""
    states = {run: state_of(log, run) for run in log.streams()}
    return {
        run: (state.status, state.reason, steps_of(state), dict(state.names.items()), state.seq)
        for run, state in states.items()
    }


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A random plan."""
    return Plan(name="random", steps=draw(_steps(2, "s")))


@st.composite
def _steps(draw: st.DrawFn, depth: int, prefix: str) -> tuple[Step, ...]:
    found: list[Step] = []
    for number in range(draw(st.integers(1, 3))):
        name = f"{prefix}{number}"
        found.append(
            Step(
                name=name,
                action=draw(_action(depth, name)),
                when=Expression(draw(st.sampled_from(CONDITIONS))) if draw(st.integers(0, 3)) == 0 else None,
                retry=Retry(draw(st.integers(0, 2)), draw(st.sampled_from([0, 0, 5]))),
                on_fail=draw(st.sampled_from(ON_FAIL)),
                output=f"o{name}" if draw(st.booleans()) else None,
            )
        )
    return tuple(found)


def _action(depth: int, name: str) -> st.SearchStrategy[Action]:
    command = Command(f"echo {name}")
    two = (NamedCommand("c", command), NamedCommand("d", command))
    options: list[st.SearchStrategy[Action]] = [
        st.just(ScriptAction(command)),
        st.just(ScriptAction(command, on_success="exit_loop")),
        st.just(GateAction(checks=Checks(commands=two))),
        st.just(ApprovalAction(message=Constant("ok?"))),
        st.just(CallAction("other")),
        st.just(EndAction(status="succeeded")),
    ]
    if depth > 0:
        inner = _steps(depth - 1, f"{name}_")
        over = st.sampled_from([Times(Constant(2)), Until(Expression("round >= 2")), Each(Constant(["a", "b"]))])
        loop = st.builds(LoopAction, over=over, steps=inner, max_iterations=st.integers(1, 3))
        word = (NamedValue("word", Constant("w")),)
        group = st.builds(GroupAction, routine=st.just("r"), inputs=st.just(word), steps=inner)
        options += [loop, loop, group]
    return st.one_of(*options)

"""Handrail on its SQLite log, with commands that do nothing: everything but the start of a process is real.

The garbage collector is set as every `handrail` process sets it.

Called as `handrail_engine.py SCENARIO FOLDER COUNT`; prints one JSON document as its last line.
"""

import asyncio
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any

from handrail.cli.main import GARBAGE
from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import encode_state
from handrail.frozen import frozen
from handrail.model.history.events import Event, RunStarted, StepBegan, StepEnded
from handrail.model.history.run_state import REDUCER, Pending, RunState
from handrail.model.workflow.actions import ApprovalAction, CallAction, ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import Command, JsonValue
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Append, Checkpoint, Holder, Lease, Log
from handrail.runtime.driver import Handlers
from handrail.runtime.event_records import encode_event
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.history import state_of
from handrail.runtime.local.background_driver import BackgroundDriver
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.recorder import CHECKPOINT_EVERY, CHECKPOINT_SHARE
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import ENVIRONMENTS, FLOWS, make_starts, make_writer

SCRIPT = ScriptAction(command=Command("true"))
IDLE_SECONDS = 3.0
WAKES = 20


@frozen
class NoCommands(CommandHandler):
    """Performs every script by doing nothing, and notes when."""

    times: list[float] = field(default_factory=list[float])
    on_step: Callable[[str], None] = lambda _: None

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded:
        """Do nothing."""
        del state, began
        self.times.append(time.perf_counter())
        self.on_step(pending.address)
        return StepEnded(
            address=pending.address, began=pending.seq, status="succeeded", output="", exit_code=0, at=time.time()
        )


def scripts(count: int) -> Plan:
    """Give a plan of steps that do nothing."""
    return Plan(name="noop", steps=tuple(Step(name=f"s{number}", action=SCRIPT) for number in range(1, count + 1)))


def start(log: Log, plan: Plan) -> str:
    """Start a run."""
    return runs.start(make_writer(log), runs.Request(PinnedWorkflow(plan, "sha256:0"), "/"))


def commands(folder: Path, on_step: Callable[[str], None] = lambda _: None) -> NoCommands:
    """Give the handler that does nothing."""
    return NoCommands(make_starts(), folder, time.time, on_step=on_step)


def supervisor(log: Log, handler: CommandHandler) -> Supervisor:
    """Give a supervisor whose children are runs of one step."""
    children = ChildHandler(log, ENVIRONMENTS, lambda _name, _folder: PinnedWorkflow(scripts(1), "sha256:1"), time.time)
    return Supervisor(log, Handlers(ENVIRONMENTS, handler, children, FLOWS), time.time, "benchmark")


def steps(folder: Path, count: int) -> dict[str, Any]:
    """Drive a run of many steps; give when each began."""
    log, handler = open_log(folder), commands(folder)
    start(log, scripts(count))
    asyncio.run(supervisor(log, handler).run_until_idle())
    handler.times.append(time.perf_counter())
    log.close()
    return {"times": handler.times}


def fan_out(folder: Path, count: int) -> dict[str, Any]:
    """Drive a run that calls other runs, one step each."""
    log = open_log(folder)
    calls = tuple(Step(name=f"c{number}", action=CallAction(workflow="child")) for number in range(count))
    run = start(log, Plan(name="parent", steps=calls))
    began = time.perf_counter()
    asyncio.run(supervisor(log, commands(folder)).run_until_idle())
    done = time.perf_counter() - began
    assert state_of(log, run).status == "succeeded"
    log.close()
    return {"seconds": done}


def resume(folder: Path, count: int) -> dict[str, Any]:
    """Fold a run of many events, as a process that starts anew does."""
    log = open_log(folder)
    _write_history(log, count)
    log.close()
    log = open_log(folder)
    began = time.perf_counter()
    state = state_of(log, "long-1")
    done = time.perf_counter() - began
    assert state.seq >= count
    log.close()
    return {"seconds": done}


def _write_history(log: Log, count: int) -> None:
    """Write what a driver would have written, many steps in each commit."""
    started = RunStarted(
        run="long-1", workflow="long", definition="d", plan="p", inputs={}, workspace="/", at=time.time()
    )
    make_writer(log).begin("long-1", started)
    lease, state = _leased(log, "long-1"), apply(None, started, 1, log.get_blob)
    checkpointed, before, events = 0, 1, list[Event]()
    while state.seq < count:
        for event in _step(state):
            state = apply(state, event, state.seq + 1, log.get_blob)
            events.append(event)
        kept = None
        if state.seq - checkpointed >= max(CHECKPOINT_EVERY, state.seq // CHECKPOINT_SHARE):
            kept, checkpointed = Checkpoint("long-1", state.seq, REDUCER, encode_state(state)), state.seq
        if kept is not None or len(events) >= 1000 or state.seq >= count:
            stored = tuple(encode_event(event) for event in events)
            log.append([Append("long-1", before, stored, checkpoint=kept)], [lease])
            before, events = state.seq, []


def _step(state: RunState) -> tuple[Event, Event]:
    address = f"s{state.seq}"
    spec: dict[str, JsonValue] = {"commands": [{"name": "command", "script": "true"}], "env": {}, "timeout": None}
    began = StepBegan(address=address, action="script", attempt=1, spec=spec, at=time.time())
    ended = StepEnded(address=address, began=state.seq + 1, status="succeeded", exit_code=0, at=time.time())
    return began, ended


def _leased(log: Log, run: str) -> Lease:
    lease = log.acquire(run, "benchmark")
    if isinstance(lease, Holder):
        raise SystemExit(f"{run} is held by {lease.name}")
    return lease


def waiting(folder: Path, count: int) -> dict[str, Any]:
    """Let many runs wait for approval in one process; give what that costs and how fast one wakes."""
    log, plan = open_log(folder), Plan(name="ask", steps=(Step(name="ok", action=ApprovalAction()),))
    drives = supervisor(log, commands(folder))
    alone = asyncio.run(_idle(log, drives))
    # The first runs pay for what is loaded once.
    names = [start(log, plan) for _ in range(WAKES)]
    asyncio.run(drives.run_until_idle())
    before = _memory()
    for _ in range(count):
        start(log, plan)
    asyncio.run(drives.run_until_idle())
    memory = (_memory() - before) / count
    found = asyncio.run(_wait_and_wake(log, drives, names))
    log.close()
    return {"memory": memory, "alone": alone, **found}


async def _idle(log: Log, drives: Supervisor) -> float:
    """Say which share of a processor it takes to wait for nobody."""
    background = BackgroundDriver(log, drives, time.time, grace=600.0)
    serving = asyncio.create_task(background.serve())
    idle = await _share()
    background.stop.set()
    await serving
    return idle


async def _share() -> float:
    await asyncio.sleep(1)
    used = time.process_time()
    await asyncio.sleep(IDLE_SECONDS)
    return (time.process_time() - used) / IDLE_SECONDS


async def _wait_and_wake(log: Log, drives: Supervisor, names: list[str]) -> dict[str, Any]:
    over: dict[str, asyncio.Event] = {name: asyncio.Event() for name in names}
    drives.on_state = lambda state: over[state.run].set() if state.status == "succeeded" else None
    background = BackgroundDriver(log, drives, time.time, grace=600.0)
    serving = asyncio.create_task(background.serve())
    idle = await _share()
    wakes = [await _wake(log, name, over[name]) for name in over]
    background.stop.set()
    await serving
    return {"idle": idle, "wakes": wakes}


async def _wake(log: Log, name: str, over: asyncio.Event) -> float:
    await asyncio.sleep(0.013)
    runs.answer(make_writer(log), name, "approve", "benchmark")
    began = time.perf_counter()
    await over.wait()
    return time.perf_counter() - began


def _memory() -> int:
    """Bytes that this process holds now."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def work(folder: Path, count: int) -> dict[str, Any]:
    """Drive a run and say each step as it begins; started again, go on with what was left."""
    log = open_log(folder)
    if not log.streams():
        start(log, scripts(count))

    def say(address: str) -> None:
        os.write(1, f"{address}\n".encode())

    asyncio.run(supervisor(log, commands(folder, say)).run_until_idle())
    log.close()
    return {}


SCENARIOS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "steps": steps,
    "fan_out": fan_out,
    "resume": resume,
    "waiting": waiting,
    "work": work,
}

if __name__ == "__main__":
    gc.set_threshold(GARBAGE)
    print(json.dumps(SCENARIOS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))

"""Runs a workflow in processes that kill themselves at each point once, until it is done.

Run as a script: `crashing.py FOLDER BATCH BATCHES`. A point is what a process is just about to do, or has just done:
each commit of the log, each start of a command, each wait for one. Every life of the driving process is a fork; it
ends by SIGKILL at the first point of this batch at which none has died yet. `killed` in the folder lists them.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "compiler"), str(TESTS / "runtime")]

from runtime_room import library, pinned  # noqa: E402 - the path has to be there first

from handrail.model.actions import GroupAction  # noqa: E402
from handrail.model.plan import Step  # noqa: E402
from handrail.model.values import Expression, NamedValue  # noqa: E402
from handrail.operations import runs  # noqa: E402
from handrail.ports.log import Append, Lease, StoredEvent  # noqa: E402
from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, TimedOut  # noqa: E402
from handrail.runtime.handlers.children import ChildHandler  # noqa: E402
from handrail.runtime.handlers.commands import CommandHandler  # noqa: E402
from handrail.runtime.histories import state_of  # noqa: E402
from handrail.runtime.ports import Pinned  # noqa: E402
from handrail.runtime.supervisor import Supervisor  # noqa: E402
from handrail.store.sqlite_log import SqliteLog, open_log  # noqa: E402
from handrail.wiring import ShellCommands  # noqa: E402
from handrail.workspace.processes import LocalProcesses  # noqa: E402

RUN = "everything-1"
CHILD = """
name: child
input: {who: string}
steps:
  - {name: greet, command: 'echo greet >> trace; echo hello ${who}', output: greeting}
  - {name: wave, command: 'echo wave >> trace; echo ${greeting} again', output: waved}
"""
TEXT = """
name: everything
input: {base: string}
steps:
  - {name: first, command: 'echo first >> trace; echo "hi ${base}"', output: said}
  - {name: skipped, command: 'echo never >> trace', when: base == 'other'}
  - name: data
    command: |
      echo data >> trace; echo '{"items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]}'
    returns: json
    output: data
  - name: checked
    type: gate
    checks: {one: 'echo one >> trace', two: 'echo two >> trace; test -n "${said}"', three: 'echo three >> trace'}
  - {name: flaky, command: 'echo flaky >> trace; test -e once || { touch once; exit 3; }', retry: {max: 2, backoff: 1s}}
  - {name: weak, command: 'echo weak >> trace; exit 7', on_fail: continue}
  - name: counted
    type: loop
    for: 2
    max_iterations: 3
    steps:
      - {name: tick, command: 'echo tick ${round} >> trace; echo ${round}', output: ticked}
  - name: each
    type: loop
    for_each: ${data.items}
    as: part
    max_iterations: 5
    steps:
      - {name: look, command: 'echo look ${part.id} >> trace; echo ${part.n}', output: looked}
      - name: inner
        type: loop
        until: tried == '2'
        max_iterations: 4
        steps:
          - {name: try, command: 'echo try ${part.id} ${round} >> trace; echo ${round}', output: tried}
  - name: leaving
    type: loop
    while: said != ''
    max_iterations: 5
    steps:
      - {name: leave, command: 'echo leave >> trace', on_success: exit_loop}
  - {name: kid, type: workflow, workflow: child, input: {who: '${said}'}, output: kid}
  - {name: ask, type: approval, message: 'is ${said} good?', timeout: 1h}
  - {name: last, command: 'echo last >> trace; echo ${kid.waved}', output: done}
  - {name: stop, type: end, message: 'it is ${done}', when: done != ''}
  - {name: after, command: 'echo after >> trace'}
"""


def plan() -> Pinned:
    """The workflow, with two of its steps as a routine would bring them."""
    made = pinned(TEXT, {"child": CHILD})
    grouped = pinned(
        "name: g\ninput: {word: string}\nsteps:\n  - {name: g1, command: 'echo g1 >> trace; echo ${word}', "
        "output: heard}\n  - {name: g2, command: 'echo g2 >> trace; echo ${heard}', output: twice}\n"
    )
    action = GroupAction(steps=grouped.plan.steps, inputs=(NamedValue("word", Expression("said")),), routine="g")
    group = Step(name="group", action=action)
    steps = made.plan.steps
    return Pinned(replace(made.plan, steps=(*steps[:2], group, *steps[2:])), made.definition)


class Points:
    """Where a process may die, and where one of this batch has died already."""

    def __init__(self, folder: Path, batch: int, batches: int) -> None:
        self.label = ""
        self._file = folder / "killed"
        self._seen = set(self._file.read_text("utf-8").splitlines()) if self._file.exists() else set[str]()
        self._batch, self._batches = batch, batches

    def __call__(self, name: str) -> None:
        point = f"{name} {self.label}"
        if self._batches and crc32(point.encode()) % self._batches == self._batch and point not in self._seen:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(point + "\n")
            os.kill(os.getpid(), signal.SIGKILL)


class LabelledLog(SqliteLog):
    """A log that says what it is about to write."""

    points: Points

    def append(self, appends: Sequence[Append], leases: Sequence[Lease]) -> tuple[StoredEvent, ...]:
        self.points.label = " ".join(f"{each.stream}:{each.expected}" for each in appends)
        return super().append(appends, leases)

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        self.points.label = f"{stream} {key}"
        return super().send(stream, key, payload)

    def acquire(self, stream: str, holder: str) -> Any:
        self.points.label = stream
        return super().acquire(stream, holder)

    def release(self, lease: Lease) -> None:
        self.points.label = lease.stream
        super().release(lease)


class CrashingProcesses(LocalProcesses):
    """Real processes, and a driver that may die before it starts one, while one runs, and after one has ended."""

    def __init__(self, points: Points) -> None:
        super().__init__()
        self._points = points

    def _point(self, name: str, folder: str) -> None:
        self._points.label = "/".join(Path(folder).parts[-3:])
        self._points(name)

    def start(self, spec: ProcessSpec) -> Running:
        self._point("start.before", spec.folder)
        return super().start(spec)

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        self._point("wait.before", folder)
        ended = await super().wait(folder, timeout)
        self._point("wait.after", folder)
        return ended


def fast() -> float:
    """A clock on which a second of waiting is short."""
    return time.time() * 100


def live(folder: Path, batch: int, batches: int) -> None:
    """One life: find out where things stand, and go on until the run is over."""
    points = Points(folder, batch, batches)
    opened = open_log(folder / "data", on_point=points)
    opened.__class__ = LabelledLog
    log: LabelledLog = opened  # type: ignore[assignment]  # the same object under the class that it has now
    log.points = points
    if not log.last(RUN).seq:
        (folder / "work").mkdir(exist_ok=True)
        runs.start(log, runs.Request(plan(), str(folder / "work"), {"base": "it's $(touch pwned)"}))
    commands = CommandHandler(CrashingProcesses(points), ShellCommands(), folder / "data" / "runs", fast)
    supervisor = Supervisor(log, commands, ChildHandler(log, library({"child": CHILD}), fast), fast, "crashing")
    end = time.monotonic() + 60
    while (state := state_of(log, RUN)).status not in ("succeeded", "failed", "cancelled", "blocked"):
        assert time.monotonic() < end, f"{state.status} {state.reason}"
        if state.reason == "approval" and not log.inbox(RUN):
            runs.answer(log, RUN, "approve", "me")
        asyncio.run(supervisor.run_until_idle())
        time.sleep(0.002)
    log.close()


def lives(folder: Path, batch: int, batches: int) -> int:
    """Live until a life ends by itself; give how many were killed."""
    killed = 0
    while True:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                live(folder, batch, batches)
                code = 0
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            return killed
        killed += 1


if __name__ == "__main__":
    sys.stdout.write(str(lives(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))

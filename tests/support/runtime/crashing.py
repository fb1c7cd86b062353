"""Runs a workflow in processes that kill themselves at each point once, until it is done.

Run as a script: `crashing.py WORKFLOW FOLDER BATCH BATCHES`. A point is what a process is just about to do, or has just
done: each commit of the log, each start of a command, each wait for one, each word with a flow. Every life of the
driving process is a fork; it ends by SIGKILL at the first point of this batch at which none has died yet. `killed` in
the folder lists them.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from handrail.model.workflow.actions import DynamicAction, GroupAction
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import Expression, NamedValue
from handrail.operations.runs import lifecycle as runs
from handrail.processes.json_partner import JsonProcess
from handrail.runtime.driver import Handlers
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.history import state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import PinnedWorkflow
from handrail.wiring.system import ENVIRONMENTS, FLOWS, ShellCommands, make_writer
from support.runtime.dying import CrashingProcesses, Points, labelled_log, lives, run_of
from support.runtime.room import library, pinned

EVERYTHING, FLOWING = "everything", "flowing"
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
  - {name: ask, type: approval, message: 'is ${said} good?', timeout: 1000h}
  - {name: last, command: 'echo last >> trace; echo ${kid.waved}', output: done}
  - {name: stop, type: end, message: 'it is ${done}', when: done != ''}
  - {name: after, command: 'echo after >> trace'}
"""
FLOW = """
from handrail import Gate

async def run(ctx):
    first = await ctx.run_step("first", command='echo first >> trace; echo "hi ${base}"')
    count = await ctx.run_step("count", command="echo count >> trace; echo 2")
    weak = await ctx.run_step("weak", command="echo weak >> trace; exit 7")
    answer = await ctx.approve(f"is {first.output} good?")
    if answer.approved and not weak.success:
        for number in range(int(count.output)):
            await ctx.run_step("tick", command="echo tick ${number} >> trace", values={"number": number})
    else:
        await ctx.run_step("never", command="echo never >> trace")
    checks = {"one": "echo one >> trace", "two": 'echo two >> trace; test -n "${base}"'}
    checked = await ctx.run_step(Gate("checked", checks=checks))
    return {"said": first.output, "weak": weak.exit_code, "by": answer.by, "checked": checked.success}
"""
AROUND = """
name: flowing
input: {base: string}
steps:
  - {name: before, command: 'echo before >> trace'}
  - {name: after, command: 'echo after >> trace; echo over', output: done}
"""


def plan(workflow: str) -> PinnedWorkflow:
    """A workflow with every kind of step, or one whose steps a flow calls."""
    if workflow == EVERYTHING:
        return everything()
    made = pinned(AROUND)
    before, after = made.plan.steps
    flow = Step(name="flow", action=DynamicAction(FLOW, "workflow.py"), output="flow", on_fail="fail")
    return PinnedWorkflow(replace(made.plan, steps=(before, flow, after)), made.definition)


def everything() -> PinnedWorkflow:
    """The workflow, with two of its steps as a routine would bring them."""
    made = pinned(TEXT, {"child": CHILD})
    grouped = pinned(
        "name: g\ninput: {word: string}\nsteps:\n  - {name: g1, command: 'echo g1 >> trace; echo ${word}', "
        "output: heard}\n  - {name: g2, command: 'echo g2 >> trace; echo ${heard}', output: twice}\n"
    )
    action = GroupAction(steps=grouped.plan.steps, inputs=(NamedValue("word", Expression("said")),), routine="g")
    group = Step(name="group", action=action)
    steps = made.plan.steps
    return PinnedWorkflow(replace(made.plan, steps=(*steps[:2], group, *steps[2:])), made.definition)


def crash_in_talk(points: Points) -> None:
    """Let the driver also die before it tells a flow something, while the flow computes, and after its answer."""
    inner, words = JsonProcess.ask, dict[int, int]()

    def point(name: str, partner: JsonProcess) -> None:
        points.label = f"word {words[partner.process.pid]}"
        points(name)

    async def ask(self: JsonProcess, told: Mapping[str, object]) -> dict[str, Any] | None:
        words[self.process.pid] = words.get(self.process.pid, 0) + 1
        point("flow.before", self)
        talk = asyncio.ensure_future(inner(self, told))
        await asyncio.sleep(0)
        point("flow.during", self)
        said = await talk
        point("flow.after", self)
        return said

    JsonProcess.ask = ask


def fast() -> float:
    """A clock on which a second of waiting is short."""
    return time.time() * 100


def live(workflow: str, folder: Path, batch: int, batches: int) -> None:
    """One life: find out where things stand, and go on until the run is over."""
    run, points = run_of(workflow), Points(folder, batch, batches)
    crash_in_talk(points)
    log = labelled_log(folder, points)
    if not log.last(run).seq:
        (folder / "work").mkdir(exist_ok=True)
        runs.start(
            make_writer(log), runs.Request(plan(workflow), str(folder / "work"), {"base": "it's $(touch pwned)"})
        )
    starts = CommandStarter(CrashingProcesses(points), ShellCommands(), ENVIRONMENTS)
    commands = CommandHandler(starts, folder / "data" / "runs", fast)
    children = ChildHandler(log, ENVIRONMENTS, library({"child": CHILD}), fast)
    supervisor = Supervisor(log, Handlers(ENVIRONMENTS, commands, children, FLOWS), fast, "crashing")
    end = time.monotonic() + 120
    while (state := state_of(log, run)).status not in ("succeeded", "failed", "cancelled", "blocked"):
        assert time.monotonic() < end, f"{state.status} {state.reason}"
        if state.reason == "approval" and not log.inbox(run):
            runs.answer(make_writer(log), run, "approve", "me")
        asyncio.run(supervisor.run_until_idle())
        time.sleep(0.002)
    log.close()


if __name__ == "__main__":
    sys.stdout.write(str(lives(live, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))

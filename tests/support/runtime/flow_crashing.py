"""Runs a flow that calls agents in processes that kill themselves at each point once, until it is done.

Run as a script: `flow_crashing.py WORKFLOW FOLDER BATCH BATCHES`, with the points of `crashing.py`.
"""

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from handrail.model.workflow.actions import DynamicAction, FlowFile
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import JsonValue
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.history import state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.wiring.system import make_writer
from support.runtime.crashing import crash_in_talk
from support.runtime.dying import CrashingProcesses, Points, labelled_log, lives, run_of
from support.runtime.room import pinned
from support.runtime.tree_crashing import supervisor_of

AGENTS = "agents"
FLOW = """
from handrail import Gate

async def run(ctx):
    plan = await ctx.run_step("planning", prompt_path="prompts/planning.md")
    attempts, verified = 0, None
    while attempts < 3 and (verified is None or not verified.success):
        attempts += 1
        verified = await ctx.run_step("verify", prompt="Verify: {{ plan }}", values={"plan": plan.output},
                                      done_when=[{"exists": "verified"}])
    if "needs-review" in ctx.labels:
        answer = await ctx.approve(f"is {plan.output} good?")
    if "never" in ctx.labels:
        await ctx.run_step("never", prompt="Never.")
    checked = await ctx.run_step(Gate("checks", command="echo check >> trace; test -e fixed", fix="Fix it."))
    return {"attempts": attempts, "by": answer.by, "checked": checked.success, "drawn": ctx.random.random() < 1}
"""
SCRIPT = """
flow/planning: [{run: echo planning >> trace, say: the plan}]
flow/verify: [{run: echo verify >> trace}, {run: echo verify >> trace, files: {verified: "yes"}, say: ok}]
flow/checks/fix: [{run: echo fix >> trace, files: {fixed: "yes"}, say: fixed}]
"""
TRACE = ["planning", "verify", "verify", "check", "fix", "check"]


def plan() -> PinnedWorkflow:
    """The flow with its prompt."""
    made = pinned("name: agents\ninput: {issue: issue}\nsteps: [{name: flow, command: 'true'}]\n")
    action = DynamicAction(FLOW, "workflow.py", (FlowFile("prompts/planning.md", "Plan {{ issue.title }}."),))
    return PinnedWorkflow(
        replace(made.plan, steps=(Step(name="flow", action=action, output="flow", on_fail="fail"),)), "x"
    )


def live(workflow: str, folder: Path, batch: int, batches: int) -> None:
    """One life: find out where things stand, and go on until the run is over."""
    run, points = run_of(workflow), Points(folder, batch, batches)
    crash_in_talk(points)
    log = labelled_log(folder, points)
    if not log.last(run).seq:
        (folder / "work").mkdir(exist_ok=True)
        issue: dict[str, JsonValue] = {"id": "T-1", "title": "It", "body": "", "labels": ["needs-review"]}
        request = runs.Request(plan(), str(folder / "work"), {"issue": issue}, agent="scripted", script=SCRIPT.encode())
        runs.start(make_writer(log), request)
    supervisor = supervisor_of(log, folder / "data", CrashingProcesses(points))
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

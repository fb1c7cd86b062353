"""Runs that agents start with a tool: what is needed to start one, and the state of those that were started."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from handrail.engine.fold.step_tools import ChildRequest, refusal
from handrail.engine.prompts.choose_agent import AgentContext
from handrail.engine.state.run_outputs import results_of
from handrail.engine.text.byte_limits import DOTS, cut
from handrail.errors import UsageError
from handrail.model.history.run_lines import Filter
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import fill_project_values
from handrail.model.workflow.settings import Project
from handrail.model.workflow.values import JsonValue
from handrail.operations.agents.configured_agents import ConfiguredAgents
from handrail.operations.agents.require_agents import require_agents, require_wrappings
from handrail.operations.runs.prepare import pin
from handrail.operations.runs.project_settings import needs_of, require_project
from handrail.operations.runs.secrets import SecretChecker
from handrail.operations.views.run_tree import find_acting_run
from handrail.operations.workflows.inputs import bind
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.runtime.history import encode_plan, plan_of, put_calls, state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.sources.tiers import Location

MAX_RESULT = 4_000
"""The number of bytes of a run's results that an agent gets."""
MAX_ROWS = 20
_FILES = (".yaml", ".yml", ".json", ".py")


def prepare_child(
    log: Log, machine: Machine, state: RunState, given: dict[str, Any], seen_from: Callable[[Path], Location]
) -> ChildRequest:
    """Find, compile and check a workflow that an agent wants to run; raise what is wrong with it."""
    refused = refusal(state)
    if refused or state.tree is None:
        raise UsageError(refused)
    name, goal = str(given["workflow"]), str(given["goal"])
    if "/" in name or name.endswith(_FILES):
        # What an agent writes into a worktree is not one of our workflows.
        raise UsageError(f"'{name}' is a file", next_step="pass the name of a workflow that is known here")
    place = seen_from(Path(state.tree.repository))
    pinned = pin(place, name)
    secrecy = SecretChecker(machine.redactor())
    inputs = secrecy.inputs(
        _inputs(pinned, cast("dict[str, JsonValue]", given.get("inputs") or {}), goal, state.project)
    )
    plans = (pinned.plan, *(each.plan for each in pinned.calls.values()))
    for plan in plans:
        secrecy.require_none_in(plan)
    require_project(needs_of(plans), state.project)
    known = ConfiguredAgents(machine.agents, place.folders, place.repository)
    require_agents(plans, AgentContext(state.agent, state.agents, inputs, goal), known)
    require_wrappings(machine, plans, state.agents, tmux=False)
    return ChildRequest(
        workflow=pinned.plan.name,
        definition=pinned.definition,
        plan=log.put_blob(pinned.written or encode_plan(pinned.plan)),
        calls=put_calls(log, pinned.calls),
        inputs=inputs,
        task=secrecy.task(goal),
        timeout=pinned.plan.timeout,
    )


def _inputs(pinned: PinnedWorkflow, given: dict[str, JsonValue], goal: str, project: Project) -> dict[str, JsonValue]:
    if pinned.plan.selection == "rescan":
        return given
    texts = (f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items())
    return fill_project_values(pinned.plan.inputs, bind(pinned.plan.inputs, tuple(texts), goal), project)


def children_of(log: Log, run: str) -> list[dict[str, JsonValue]]:
    """List the state of the runs that a run started, the newest last."""
    return [_row(log, key) for key in log.keys(Filter(parent=run, order="made"))[-MAX_ROWS:]]


def _row(log: Log, run: str) -> dict[str, JsonValue]:
    state = state_of(log, run)
    acting = find_acting_run(log, run).acting
    result = results_of(plan_of(log, state.plan), state)
    text = json.dumps(result, ensure_ascii=False)
    at = acting.pending.address if acting.pending is not None else acting.previous
    return {
        "run": run,
        "workflow": state.workflow,
        "status": acting.status if state.status == "running" else state.status,
        "reason": acting.reason,
        "step": at or None,
        "message": cut(acting.message, MAX_RESULT, DOTS),
        "branch": state.tree.branch if state.tree is not None else None,
        "result": cast("JsonValue", result) if len(text) <= MAX_RESULT else cut(text, MAX_RESULT, DOTS),
    }


def child_words(row: dict[str, JsonValue]) -> str:
    """Describe the state of a run in a line: `fix-1.7 (fix): running at reproduce`."""
    at = f" at {row['step']}" if row.get("step") and row.get("status") not in ("succeeded", "cancelled") else ""
    message = f": {row['message']}" if row.get("message") else ""
    result = f", result {json.dumps(row['result'], ensure_ascii=False)}" if row.get("result") else ""
    return f"{row['run']} ({row['workflow']}): {row.get('status', 'running')}{at}{message}{result}"


def needs_nobody(log: Log, run: str) -> bool:
    """Return whether a run continues automatically: it has not ended, and does not wait for a person."""
    acting = find_acting_run(log, run).acting
    return acting.status in ("running", "queued") or acting.reason in ("timer", "quota")

"""Decides whether a run has done everything that its issue asks for when it opens its pull request."""

from handrail.model.history.run_state import RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import (
    AgentAction,
    AgentLoopAction,
    CommitAction,
    MergeAction,
    ParallelAction,
    PullRequestAction,
)
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

_WORK = (AgentAction, AgentLoopAction, CommitAction, MergeAction, ParallelAction, PullRequestAction)


def has_finished(plan: Plan, state: RunState, step: str) -> bool:
    """Whether no work comes after a step, and nothing before it failed or was left open."""
    steps = list(walk_steps(plan.steps))
    at = next((number for number, (_, each) in enumerate(steps) if each.name == step), None)
    if at is None or any(isinstance(each.action, _WORK) for _, each in steps[at + 1 :]):
        return False
    failed = any(each.status == "failed" for each in state.steps.values())
    return not failed and not state.open_gaps and not any(_left_open(each.output) for each in state.steps.values())


def _left_open(output: JsonValue) -> bool:
    """Whether the result of a step names something that is not done: an open finding, an item that failed."""
    if isinstance(output, list):
        return any(isinstance(each, dict) and each.get("status") == "failed" for each in output)
    return isinstance(output, dict) and any(output.get(name) for name in ("open_findings", "left", "undone"))

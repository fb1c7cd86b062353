"""Decides how composite steps begin and what follows each of their actions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from handrail.engine.state.position import StepStart, enclosing_step
from handrail.engine.state.scope import value_of
from handrail.late_import import late_import
from handrail.model.history.events import Event, RunBlocked, WorkEntered
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import (
    Action,
    AgentLoopAction,
    GateAction,
    MergeAction,
    ParallelAction,
    PullRequestAction,
)
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.composite import context
    from handrail.engine.composite import fan_out as fan_outs
    from handrail.engine.composite import gate_fix as fixes
    from handrail.engine.composite import merge as merges
    from handrail.engine.composite import pull_request as pull_requests
    from handrail.engine.composite import review_loop as reviews
else:
    fan_outs = late_import("handrail.engine.composite.fan_out")
    fixes = late_import("handrail.engine.composite.gate_fix")
    merges = late_import("handrail.engine.composite.merge")
    reviews = late_import("handrail.engine.composite.review_loop")
    pull_requests = late_import("handrail.engine.composite.pull_request")
    context = late_import("handrail.engine.composite.context")


def is_composite(action: Action) -> bool:
    """Whether a step is composite, that is, takes several actions."""
    if isinstance(action, GateAction):
        return action.fix is not None
    if isinstance(action, PullRequestAction):
        return isinstance(action.body, AgentTask)
    return isinstance(action, AgentLoopAction | MergeAction | ParallelAction)


def enter(state: RunState, step: Step, at: StepStart) -> Event:
    """Begin a composite step."""
    action = step.action
    checks = action.checks if isinstance(action, GateAction | AgentLoopAction | MergeAction) else None
    if checks is not None and checks.project and not state.checks:
        return block_without_checks(at)
    return WorkEntered(
        address=at.address,
        action=action.kind,
        data=_initial_data(state, action),
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


def block_without_checks(at: StepStart) -> RunBlocked:
    """Block the run because a step asks for the project's checks and none are defined."""
    message = f"step '{at.address}' needs the project's checks, but none are configured"
    hint = "define them under [checks] in .handrail/config.toml, then start a new run"
    return RunBlocked(reason="checks", message=message, address=at.address, next_step=hint, at=at.now)


def _initial_data(state: RunState, action: Action) -> dict[str, JsonValue]:
    match action:
        case AgentLoopAction():
            return reviews.initial_data(state, action)
        case MergeAction():
            return merges.initial_data(state, action)
        case ParallelAction():
            return fan_outs.initial_data(state, action)
        case PullRequestAction():
            return pull_requests.FIRST
        case _:
            return fixes.FIRST


def decide_next_effort(plan: Plan, state: RunState, now: float, agent_names: AgentNames) -> Event | None:
    """Decide what the innermost composite step does next; None while it waits for its items."""
    step, work = enclosing_step(plan, state), state.stack[-1].work
    if step is None or work is None:
        return RunBlocked(reason="fault", message="the run is at a step that its plan does not contain", at=now)
    own: Mapping[str, JsonValue] = {each.name: value_of(each.value, state) for each in step.input}
    ctx = context.CompositeContext(plan, state, step, work, own, now, agent_names)
    match step.action:
        case GateAction():
            return fixes.decide_next_effort(ctx, step.action)
        case AgentLoopAction():
            return reviews.decide_next_effort(ctx, step.action)
        case MergeAction():
            return merges.decide_next_effort(ctx, step.action)
        case ParallelAction():
            return fan_outs.decide_next_effort(ctx, step.action)
        case PullRequestAction():
            return pull_requests.decide_next_effort(ctx, step.action)
        case _:
            return RunBlocked(reason="fault", message=f"'{work.address}' is not a step with several efforts", at=now)

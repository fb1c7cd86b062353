"""Begins a step: evaluates what its performer needs, and records it as the intent."""

from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.engine.composite import decide as works
from handrail.engine.prompts.agent_call import add_guidance, build_ask, build_call_intent, decide_before_call
from handrail.engine.prompts.person_messages import explain_standing_answer, only_follows_up
from handrail.engine.state import budgets
from handrail.engine.state.agent_calls import holds_all
from handrail.engine.state.position import StepStart
from handrail.engine.state.scope import evaluate_expression, parse_expression, render_value, run_difference, value_of
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import (
    ApprovalRequested,
    ChildStarted,
    Event,
    GroupEntered,
    RunEnded,
    StepBegan,
    StepPassedOver,
    StepSkipped,
    Why,
)
from handrail.model.history.run_state import RunState, awaits_confirmation
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import (
    AgentAction,
    ApprovalAction,
    CallAction,
    CommitAction,
    CreateIssuesAction,
    DynamicAction,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    PullRequestAction,
    ScriptAction,
)
from handrail.model.workflow.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import Expression, JsonValue

if TYPE_CHECKING:
    from handrail.engine.composite import command_spec, delivery_spec
    from handrail.engine.composite import loop as loops
    from handrail.engine.guided import agent_call, confirmation, hand_out
    from handrail.engine.guided import loops as guided_loops
else:
    agent_call = late_import("handrail.engine.guided.agent_call")
    confirmation = late_import("handrail.engine.guided.confirmation")
    hand_out = late_import("handrail.engine.guided.hand_out")
    guided_loops = late_import("handrail.engine.guided.loops")
    loops = late_import("handrail.engine.composite.loop")
    command_spec = late_import("handrail.engine.composite.command_spec")
    delivery_spec = late_import("handrail.engine.composite.delivery_spec")


def begin(plan: Plan, state: RunState, step: Step, at: StepStart) -> Event:
    """Decide the event that begins a step."""
    own = {each.name: value_of(each.value, state) for each in step.input}
    if not holds_all(state) and works.is_composite(step.action):
        return works.enter(state, step, at)
    match step.action:
        case (
            ScriptAction()
            | GateAction()
            | CommitAction()
            | DynamicAction()
            | PullRequestAction()
            | CreateIssuesAction()
        ):
            return _begin_engine_step(state, step, own, at)
        case AgentAction() | GuidedAction() | DelegateAction() if _is_called(state, step.action.kind):
            return _begin_agent_step(_CallContext(plan, state, step, own), at)
        case ApprovalAction():
            return _request_approval(state, step, step.action, at)
        case LoopAction():
            return loops.enter(state, step.action, at)
        case GuidedLoopAction():
            return guided_loops.enter(step.action, at)
        case GroupAction() | CallAction() | EndAction():
            return _begin_instant_step(state, step, own, at)
        case _:
            return _begin_outside_step(plan, state, step, own, at)


def _begin_engine_step(state: RunState, step: Step, own: dict[str, JsonValue], at: StepStart) -> Event:
    """Begin a step that the engine performs, with the spec of what it runs."""
    match step.action:
        case GateAction() if step.action.checks.project and not state.checks:
            return works.block_without_checks(at)
        case GateAction():
            return _build_intent(
                step, at, command_spec.gate_spec(state, step, command_spec.checks_of(state, step.action.checks), own)
            )
        case ScriptAction():
            return _build_intent(step, at, command_spec.script_spec(state, step, step.action, own))
        case CommitAction():
            paths = None if step.action.paths is None else value_of(step.action.paths, state, own)
            listed: JsonValue = paths if isinstance(paths, list) or paths is None else [paths]
            return _build_intent(
                step, at, {"message": render_value(value_of(step.action.message, state, own)), "paths": listed}
            )
        case PullRequestAction():
            return _build_intent(step, at, delivery_spec.pull_request_spec(state, step.action, own))
        case CreateIssuesAction():
            return _build_intent(step, at, delivery_spec.create_issues_spec(state, step.action, own))
        case _:
            return _build_intent(step, at, {"input": own})


def _begin_instant_step(state: RunState, step: Step, own: dict[str, JsonValue], at: StepStart) -> Event:
    """Decide a step that nobody performs: the event itself is the whole step."""
    action = step.action
    if isinstance(action, GroupAction):
        inputs = {make_identifier(each.name): value_of(each.value, state) for each in action.inputs}
        return GroupEntered(address=at.address, inputs=inputs, at=at.now)
    if isinstance(action, EndAction):
        message = "" if action.message is None else render_value(value_of(action.message, state))
        return RunEnded(status=action.status, message=message, at=at.now)
    return ChildStarted(
        address=at.address,
        child=f"{state.run}.{state.seq + 1}",
        workflow=action.workflow if isinstance(action, CallAction) else "",
        inputs=own,
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


@frozen
class _CallContext:
    plan: Plan
    state: RunState
    step: Step
    own: dict[str, JsonValue]
    schema: JsonValue = None
    """The schema of the result, where the step itself defines none."""


def _is_called(state: RunState, action: str) -> bool:
    """Whether the engine itself calls an agent for a step; a guided step goes to the run's holder, if there is one."""
    return not holds_all(state) if action == "agent" else not state.held_by


def _begin_agent_step(asking: _CallContext, at: StepStart) -> Event:
    action = asking.step.action
    if isinstance(action, AgentAction):
        return _call(asking, action.task, at)
    known = asking.state.steps.get(at.address)
    if known is not None and awaits_confirmation(known):
        return confirmation.request_confirmation(asking.state, asking.step, at.address, at.now)
    task = agent_call.build_guided_task(asking.plan, asking.state, asking.step, at)
    called = _call(replace(asking, schema=agent_call.SCHEMA), task, at)
    return agent_call.build_guided_intent(asking.plan, asking.state, asking.step, at, called)


def _call(asking: _CallContext, task: AgentTask, at: StepStart) -> Event:
    """Call an agent, unless the budget is used up."""
    limit = budgets.find_reached_limit(asking.plan, asking.state, asking.step, at.address)
    failure = asking.state.failure
    if limit is not None and limit.at_limit == "finish" and failure is not None and failure.hindrance == "budget":
        return StepPassedOver(address=at.address, how="continue", at=at.now)
    if limit is not None and limit.at_limit == "finish" and only_follows_up(asking.state, at.address):
        said = explain_standing_answer(asking.state, limit.message)
        name = asking.step.output or ""
        return StepPassedOver(address=at.address, how="answered", output=name, message=said, at=at.now)
    if limit is not None and limit.at_limit == "finish":
        why = Why("budget", {"budget": limit.message}, result=False)
        return StepSkipped(address=at.address, why=why, at=at.now)
    if limit is not None:
        return budgets.block_at_limit(limit, at.address, at.now)
    failed = "" if failure is None or failure.hindrance != "try" else failure.feedback or failure.error
    terms = build_ask(asking.step, task, asking.own, asking.state.project)
    room = budgets.room_for_call(asking.plan, asking.state, asking.step, at.address)
    ask = replace(terms, address=at.address, attempt=at.attempt, failed=failed, why=at.why, room=room)
    if asking.schema is not None:
        ask = replace(add_guidance(ask, asking.plan, asking.state), schema=asking.schema)
    else:
        ask = add_guidance(ask, asking.plan, asking.state, asking.step)
    first = decide_before_call(asking.plan, asking.state, ask, at.now, at.agent_names)
    return first or build_call_intent(asking.state, ask, at.now, at.agent_names)


def _build_intent(step: Step, at: StepStart, spec: dict[str, JsonValue]) -> StepBegan:
    return StepBegan(
        address=at.address,
        action=step.action.kind,
        attempt=at.attempt,
        spec=spec,
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


def _begin_outside_step(plan: Plan, state: RunState, step: Step, own: dict[str, JsonValue], at: StepStart) -> Event:
    """Begin a step that only an outside performer can do, or ask a person to confirm what that performer returned."""
    known = state.steps.get(at.address)
    if isinstance(step.action, GuidedAction | DelegateAction) and known is not None and awaits_confirmation(known):
        return confirmation.request_confirmation(state, step, at.address, at.now)
    if state.held_by and isinstance(step.action, AgentAction | GuidedAction | DelegateAction):
        return hand_out.begin_outside(plan, state, step, at)
    return _build_intent(step, at, {"input": own})


def _request_approval(state: RunState, step: Step, action: ApprovalAction, at: StepStart) -> Event:
    message = "" if action.message is None else render_value(value_of(action.message, state))
    show = {each.source: evaluate_expression(each, state, _approval_names(state, each)) for each in action.show}
    used = state.revisions.get(at.address, 0)
    return ApprovalRequested(
        address=at.address,
        message=message,
        show=show,
        revise=action.revise,
        revisions_left=max(0, action.max_revisions - used),
        due=None if step.timeout is None else at.now + step.timeout,
        at=at.now,
        why=at.why,
    )


def _approval_names(state: RunState, shown: Expression) -> dict[str, JsonValue]:
    """Bind `diff` to everything the run changed, computed only if the approval shows it."""
    reads_diff = any(ref.parts[0] == "diff" for ref in parse_expression(shown.source)[1])
    return {"diff": run_difference(state)} if reads_diff else {}

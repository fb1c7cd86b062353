"""Begins a step: evaluates what its performer needs, and records it as the intent."""

from collections.abc import Mapping

from handrail.engine import guided_loops, loops
from handrail.engine.names import evaluated, rendered, value_of
from handrail.engine.outside_work import begin_outside
from handrail.engine.walk import Moment
from handrail.model.actions import (
    AgentAction,
    ApprovalAction,
    CallAction,
    DynamicAction,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    ScriptAction,
)
from handrail.model.events import (
    ApprovalRequested,
    ChildStarted,
    Event,
    GroupEntered,
    RunBlocked,
    RunEnded,
    StepBegan,
)
from handrail.model.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.names import spoken
from handrail.model.plan import Plan, Step
from handrail.model.run import RunState
from handrail.model.values import Command, JsonValue, NamedValue


def begin(plan: Plan, state: RunState, step: Step, at: Moment) -> Event:
    """Give the event that begins a step."""
    own = {each.name: value_of(each.value, state) for each in step.input}
    match step.action:
        case GateAction() if step.action.checks.project and not state.checks:
            message = f"step '{at.address}' asks for the project's checks, and there are none"
            hint = "write them under [checks] in .handrail/config.toml, then start anew"
            return RunBlocked(reason="checks", message=message, address=at.address, next_step=hint, at=at.now)
        case ScriptAction() | GateAction():
            return _begun(step, at, _commands(state, step, own))
        case DynamicAction():
            return _begun(step, at, {"input": own})
        case ApprovalAction():
            return _ask(state, step, step.action, at)
        case LoopAction():
            return loops.enter(state, step.action, at)
        case GuidedLoopAction():
            return guided_loops.enter(step.action, at)
        case GroupAction() | CallAction() | EndAction():
            return _at_once(state, step, own, at)
        case _:
            return _for_others(plan, state, step, own, at)


def _at_once(state: RunState, step: Step, own: dict[str, JsonValue], at: Moment) -> Event:
    """A step that nobody performs: the event is all of it."""
    action = step.action
    if isinstance(action, GroupAction):
        inputs = {spoken(each.name): value_of(each.value, state) for each in action.inputs}
        return GroupEntered(address=at.address, inputs=inputs, at=at.now)
    if isinstance(action, EndAction):
        message = "" if action.message is None else rendered(value_of(action.message, state))
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


def _begun(step: Step, at: Moment, spec: dict[str, JsonValue]) -> StepBegan:
    return StepBegan(
        address=at.address,
        action=step.action.kind,
        attempt=at.attempt,
        spec=spec,
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


def _for_others(plan: Plan, state: RunState, step: Step, own: dict[str, JsonValue], at: Moment) -> Event:
    """A step that only an outside performer can do."""
    if state.held_by and isinstance(step.action, AgentAction | GuidedAction | DelegateAction):
        return begin_outside(plan, state, step, at)
    if state.held_by:
        return _begun(step, at, {"input": own})
    message = f"step '{at.address}' is of type {step.action.kind}, which this version cannot perform by itself"
    hint = "take the run and complete the step from outside: handrail take RUN"
    return RunBlocked(reason="step", message=message, address=at.address, next_step=hint, at=at.now)


def _commands(state: RunState, step: Step, own: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    action = step.action
    if isinstance(action, ScriptAction):
        named = (("command", action.command),)
        env: tuple[NamedValue, ...] = action.env
    else:
        gate = action if isinstance(action, GateAction) else None
        named = tuple((each.name, each.command) for each in gate.checks.commands) if gate is not None else ()
        env = gate.env if gate is not None else ()
    if isinstance(action, GateAction) and action.checks.project:
        named = tuple((name, Command(script)) for name, script in sorted(state.checks.items()))
    spec: dict[str, JsonValue] = {
        "commands": [_command(state, name, command, own) for name, command in named],
        "env": {each.name: rendered(value_of(each.value, state, own)) for each in env},
        "timeout": step.timeout,
    }
    if isinstance(action, ScriptAction):
        spec.update(json=action.parse_json, repeatable=action.repeatable, exit_loop=action.on_success is not None)
    return spec


def _command(state: RunState, name: str, command: Command, own: Mapping[str, JsonValue]) -> JsonValue:
    values: dict[str, JsonValue] = {
        each.variable: rendered(evaluated(each.value, state, own)) for each in command.bindings
    }
    files: list[JsonValue] = [each.variable for each in command.bindings if each.as_file]
    return {"name": name, "script": command.script, "values": values, "files": files}


def _ask(state: RunState, step: Step, action: ApprovalAction, at: Moment) -> Event:
    message = "" if action.message is None else rendered(value_of(action.message, state))
    show = {each.source: evaluated(each, state, {"diff": ""}) for each in action.show}
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

"""The hash of a call as recorded before calls had names: over the resolved command or approval."""

from hashlib import sha256
from typing import cast

import rfc8785

from handrail.model.history.events import ApprovalRequested, StepBegan
from handrail.model.history.run_state import FlowCall
from handrail.model.workflow.actions import ScriptAction
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import JsonValue
from handrail.runtime.dynamic.flow_calls import Call, FlowCallContext, begin_step

Data = dict[str, JsonValue]


def is_same_as_older(call: Call, recorded: FlowCall, ctx: FlowCallContext, number: int) -> bool:
    """Whether a call is the one that an older version recorded under its number."""
    if recorded.address != f"{ctx.around.address}#{number}" or call.plan is None:
        return False
    step = call.plan.steps[0]
    event = begin_step(call.plan, FlowCallContext(ctx.state, "", 0.0, ctx.around), call.values)
    same: Data = {"name": step.name, "type": step.action.kind}
    match event:
        case StepBegan():
            spec = {**same, **_fill_defaults(event.spec, step)}
        case ApprovalRequested():
            spec = {**same, "message": event.message, "show": event.show, "timeout": step.timeout}
        case _:
            return False
    return sha256(rfc8785.dumps(spec)).hexdigest() == recorded.hash


def _fill_defaults(spec: Data, step: Step) -> Data:
    """Return a spec with its omitted defaults filled in: a recorded hash covers all of them."""
    nothing: Data = {"values": {}, "files": [], "sources": {}}
    commands = cast("list[Data]", spec.get("commands") or [])
    whole: Data = {"env": {}, "timeout": None}
    if isinstance(step.action, ScriptAction):
        whole |= {"json": False, "repeatable": True, "exit_loop": False}
    return {**whole, **spec, "commands": [{**nothing, **each} for each in commands]}

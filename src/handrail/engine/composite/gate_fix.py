"""A gate with a fix: check, let an agent fix, check again, until the checks pass or no fixes are left."""

from dataclasses import replace
from typing import cast

from handrail.engine.composite.command_spec import checks_of, gate_spec
from handrail.engine.composite.context import CompositeContext
from handrail.engine.prompts.agent_call import AgentRequest
from handrail.engine.state.budgets import ReachedLimit
from handrail.engine.state.scope import expose_own_result
from handrail.model.history.events import Event, StepBegan, StepEnded
from handrail.model.workflow.actions import GateAction
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]
FIRST: Data = {"phase": "check", "used": 0, "failed": "", "failures": [], "error": "", "output": None}


def decide_next_effort(ctx: CompositeContext, action: GateAction) -> Event:
    """Decide what the gate does next."""
    data, address = ctx.data, ctx.work.address
    used, most = cast("int", data["used"]), 0 if action.fix is None else action.fix.max
    if data["phase"] == "check":
        spec = gate_spec(ctx.state, ctx.step, checks_of(ctx.state, action.checks), ctx.own)
        return StepBegan(address=address, action="gate", attempt=used + 1, spec=spec, at=ctx.now)
    if data["phase"] == "passed":
        return ctx.succeed(data["output"])
    if action.fix is None or used >= most:
        return ctx.fail(str(data["error"]), data["output"])
    # The failures are available by name too, and are part of the message whether the prompt names them or not.
    names: Data = {**ctx.own, "failures": data["failures"], "round": used + 1}
    ask = AgentRequest(
        task=action.fix,
        address=f"{address}/fix",
        names=names,
        attempt=used + 1,
        attempts=most,
        # Checks that printed nothing are described by their names and exit codes alone.
        failed=str(data["failed"]) if str(data["failed"]).strip() else str(data["error"]),
        timeout=ctx.step.timeout,
    )
    event = replace(ctx, state=expose_own_result(ctx.state, ctx.step.name, address)).call(ask)
    if isinstance(event, ReachedLimit):
        error = f"{data['error']}; no further fix was tried: {event.message}"
        return ctx.fail(error, data["output"], blocks_budget=True)
    return event


def record_outcome(data: Data, event: StepEnded) -> Data:
    """Record the outcome of the checks or of a fix."""
    if data["phase"] == "fix":
        return {**data, "phase": "check", "used": cast("int", data["used"]) + 1}
    passed = event.status == "succeeded"
    said = event.error if not isinstance(event.output, dict) else str(event.output.get("output") or event.error)
    return {
        **data,
        "phase": "passed" if passed else "fix",
        "output": event.output,
        "error": event.error,
        "failed": said,
        "failures": event.details.get("failures", []),
    }

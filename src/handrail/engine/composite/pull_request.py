"""A pull request whose text an agent writes: one call that only reads, then the pull request itself."""

from handrail.engine.composite.context import CompositeContext
from handrail.engine.composite.delivery_spec import pull_request_spec
from handrail.engine.prompts.agent_call import AgentRequest
from handrail.engine.state.budgets import ReachedLimit
from handrail.model.history.events import Event, StepBegan, StepEnded
from handrail.model.workflow.actions import PullRequestAction
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]
FIRST: Data = {"phase": "write", "text": "", "output": None, "error": ""}
WRITE = "body"
"""The last part of the address at which the text is written."""


def decide_next_effort(ctx: CompositeContext, action: PullRequestAction) -> Event:
    """Decide what the step does next."""
    data, address = ctx.data, ctx.work.address
    if data["phase"] == "opened":
        return ctx.succeed(data["output"])
    if data["phase"] == "failed":
        return ctx.fail(str(data["error"]), data["output"])
    if data["phase"] == "write" and isinstance(action.body, AgentTask):
        event = ctx.call(
            AgentRequest(task=action.body, address=f"{address}/{WRITE}", names=dict(ctx.own), timeout=ctx.step.timeout)
        )
        if not isinstance(event, ReachedLimit):
            return event
    spec = {**pull_request_spec(ctx.state, action, ctx.own), "body": data["text"]}
    return StepBegan(address=address, action="pull-request", attempt=1, spec=spec, at=ctx.now)


def record_outcome(data: Data, event: StepEnded) -> Data:
    """Record the text, or how the pull request was opened; without a text it is opened with ours alone."""
    if event.address.endswith(f"/{WRITE}"):
        written = event.output if isinstance(event.output, str) else ""
        return {**data, "phase": "open", "text": written if event.status == "succeeded" else ""}
    if event.status == "failed":
        return {**data, "phase": "failed", "error": event.error, "output": event.output}
    return {**data, "phase": "opened", "output": event.output}

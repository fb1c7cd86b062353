"""What follows when a step has failed: another try, the loop around it, a person, or the end."""

from handrail.engine.begin import begin
from handrail.engine.names import condition
from handrail.engine.walk import Moment
from handrail.model.actions import ApprovalAction, GateAction, LoopAction, body
from handrail.model.events import (
    BlockReason,
    Event,
    RetryScheduled,
    RoundEnded,
    RunBlocked,
    RunEnded,
    StepPassedOver,
)
from handrail.model.plan import Plan, Step
from handrail.model.run import Failure, RunState


def after_failure(plan: Plan, state: RunState, step: Step, now: float) -> Event:
    """Another try while there are any, then what the step says, or the loop around it."""
    failure = state.failure or Failure("", 1, "")
    if isinstance(step.action, ApprovalAction):
        return RunEnded(status="failed", message=f"rejected at '{failure.address}': {failure.error}", at=now)
    if failure.attempt <= step.retry.more:
        return _retry(plan, state, step, now)
    if isinstance(step.action, GateAction) and step.action.warn_when is not None:
        why = condition(step.action.warn_when, state)
        if why.result is True:
            return StepPassedOver(address=failure.address, how="warn", at=now)
    if step.on_fail in ("continue", "warn"):
        how = "warn" if step.on_fail == "warn" else "continue"
        return StepPassedOver(address=failure.address, how=how, at=now)
    caught = _catching_loop(plan, state)
    if caught is not None:
        return RoundEnded(address=caught[0], round=caught[1], failed=True, error=failure.error, at=now)
    return _for_good(step, failure, now)


def _retry(plan: Plan, state: RunState, step: Step, now: float) -> Event:
    failure = state.failure or Failure("", 1, "")
    if step.retry.backoff and failure.retry_at is None:
        due = now + step.retry.backoff * 2 ** (failure.attempt - 1)
        return RetryScheduled(address=failure.address, attempt=failure.attempt + 1, due=due, at=now)
    return begin(plan, state, step, Moment(failure.address, now, attempt=failure.attempt + 1))


def _catching_loop(plan: Plan, state: RunState) -> tuple[str, int] | None:
    """The innermost loop that goes on with its next round when one fails."""
    steps = plan.steps
    found: tuple[str, int] | None = None
    for frame, inner in zip(state.stack, state.stack[1:], strict=False):
        step = steps[frame.index]
        if isinstance(step.action, LoopAction) and step.on_fail == "continue" and inner.loop is not None:
            found = (inner.loop.address, inner.loop.round)
        steps = body(step.action)
    return found


def _for_good(step: Step, failure: Failure, now: float) -> Event:
    what = failure.error or "it failed"
    message = f"step '{failure.address}' failed: {what}"
    if step.on_fail == "fail":
        return RunEnded(status="failed", message=message, at=now)
    reason: BlockReason = "checks" if isinstance(step.action, GateAction) else "step"
    return RunBlocked(
        reason=reason,
        message=message,
        address=failure.address,
        next_step="mend what failed, then resume the run: the step begins anew",
        escalate_to=step.escalate_to or "" if step.on_fail == "escalate" else "",
        at=now,
    )

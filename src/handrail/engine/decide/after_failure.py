"""Decides what follows a failed step: another attempt, the surrounding loop, a person, or the end."""

from typing import Literal

from handrail.engine.decide.begin import begin
from handrail.engine.state.position import StepStart, find_current_step
from handrail.engine.state.scope import evaluate_condition, expose_own_result, render_value, value_of
from handrail.model.history.events import (
    BlockReason,
    Event,
    RetryScheduled,
    RoundEnded,
    RunBlocked,
    RunEnded,
    StepPassedOver,
)
from handrail.model.history.run_state import Failure, Pending, RunState
from handrail.model.workflow.actions import (
    AgentLoopAction,
    ApprovalAction,
    GateAction,
    LoopAction,
    add_escalation,
    body,
    has_escalation,
)
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.plan import Plan, Step


def decide_after_failure(plan: Plan, state: RunState, step: Step, now: float, agent_names: AgentNames) -> Event:
    """Retry while attempts are left, then do what the step, or the loop around it, says."""
    failure = state.failure or Failure("", 1, "")
    if isinstance(step.action, ApprovalAction):
        return _handle_rejection(step, failure.address, f"rejected at '{failure.address}': {failure.error}", now)
    if failure.attempt <= step.retry.more and failure.blocks != "budget":
        return _retry(plan, state, step, now, agent_names)
    how = _decide_pass_over(state, step, failure)
    if how is not None:
        return StepPassedOver(address=failure.address, how=how, message=_gate_message(state, step, failure), at=now)
    if failure.blocks == "budget" and isinstance(step.action, AgentLoopAction):
        return StepPassedOver(address=failure.address, how="continue", at=now)
    caught = _find_catching_loop(plan, state)
    if caught is not None:
        address, number, undone = caught
        return RoundEnded(address=address, round=number, failed=True, undone=undone, error=failure.error, at=now)
    return _give_up(step, failure, _gate_message(state, step, failure), now)


def _decide_pass_over(state: RunState, step: Step, failure: Failure) -> Literal["continue", "warn", "undo"] | None:
    """Decide how the run continues without the step; None where it does not."""
    if isinstance(step.action, GateAction) and step.action.warn_when is not None:
        why = evaluate_condition(step.action.warn_when, expose_own_result(state, step.name, failure.address))
        if why.result is True:
            return "warn"
    return step.on_fail if step.on_fail in ("continue", "warn", "undo") else None


def _gate_message(state: RunState, step: Step, failure: Failure) -> str:
    """Render the message that the author of a gate wrote for its failure."""
    if not isinstance(step.action, GateAction) or step.action.message is None:
        return ""
    return render_value(value_of(step.action.message, expose_own_result(state, step.name, failure.address)))


def _handle_rejection(step: Step, address: str, message: str, now: float) -> Event:
    """Decide what follows a rejection, which ends the run unless the approval says otherwise."""
    if step.on_fail in ("continue", "warn"):
        return StepPassedOver(address=address, how="continue" if step.on_fail == "continue" else "warn", at=now)
    if step.on_fail == "escalate":
        hint = "change what was rejected, then resume the run: approval is requested again"
        to = step.escalate_to or ""
        message = add_escalation(message, to)
        return RunBlocked(reason="step", message=message, address=address, next_step=hint, escalate_to=to, at=now)
    return RunEnded(status="failed", message=message, at=now)


def decide_after_approval_timeout(plan: Plan, state: RunState, pending: Pending, now: float) -> Event:
    """Decide what follows when nobody answered an approval in time."""
    step = None if state.flow is not None else find_current_step(plan, state)[0]
    said = f"nobody answered '{pending.address}' in time"
    asked = step if step is not None and isinstance(step.action, ApprovalAction) else None
    if asked is not None and asked.on_fail in ("continue", "warn", "fail"):
        return _handle_rejection(asked, pending.address, said, now)
    to = asked.escalate_to or "" if asked is not None and asked.on_fail == "escalate" else ""
    return RunBlocked(
        reason="step",
        message=add_escalation(said, to),
        address=pending.address,
        next_step=f"handrail approve {state.run}, or revise, or reject: you can still answer",
        escalate_to=to,
        at=now,
    )


MAX_WAITS = 12
MAX_WAIT = 900.0


def wait_or_block(state: RunState, failure: Failure, now: float) -> Event | None:
    """Handle an agent that could not answer: wait where that helps, else ask a person; None once the wait is over."""
    # `retry_at` is None before a wait, the due time during it, and 0.0 once its timer has fired.
    if failure.retry_at == 0.0 or failure.hindrance in ("replace", "budget", "anew"):
        return None
    waits = state.steps[failure.address].waits
    if failure.hindrance == "wait" and waits <= MAX_WAITS:
        after = failure.after or min(5.0 * 2 ** (waits - 1), MAX_WAIT)
        reason = "quota" if failure.blocks == "budget" else "timer"
        return RetryScheduled(
            address=failure.address,
            attempt=failure.attempt,
            due=now + after,
            reason=reason,
            message=failure.error,
            at=now,
        )
    return RunBlocked(
        reason="step",
        message=f"step '{failure.address}' cannot continue: {failure.error}",
        address=failure.address,
        next_step="fix that, then resume the run: the step starts over",
        at=now,
    )


def _retry(plan: Plan, state: RunState, step: Step, now: float, agent_names: AgentNames) -> Event:
    failure = state.failure or Failure("", 1, "")
    if step.retry.backoff and failure.retry_at is None:
        due = now + step.retry.backoff * 2 ** (failure.attempt - 1)
        return RetryScheduled(address=failure.address, attempt=failure.attempt + 1, due=due, at=now)
    at = StepStart(failure.address, now, attempt=failure.attempt + 1, agent_names=agent_names)
    return begin(plan, state, step, at)


def _find_catching_loop(plan: Plan, state: RunState) -> tuple[str, int, bool] | None:
    """Find the innermost loop that continues with its next round when one fails."""
    steps = plan.steps
    found: tuple[str, int, bool] | None = None
    for frame, inner in zip(state.stack, state.stack[1:], strict=False):
        step = steps[frame.index]
        if isinstance(step.action, LoopAction) and step.on_fail in ("continue", "undo") and inner.loop is not None:
            found = (inner.loop.address, inner.loop.round, step.on_fail == "undo")
        steps = body(step.action)
    return found


def _give_up(step: Step, failure: Failure, note: str, now: float) -> Event:
    what = failure.error or "it failed"
    message = f"step '{failure.address}' failed: {f'{note} ({what})' if note else what}"
    if step.on_fail == "fail":
        return RunEnded(status="failed", message=message, at=now)
    reason: BlockReason = failure.blocks or ("checks" if isinstance(step.action, GateAction) else "step")
    to = step.escalate_to or "" if step.on_fail == "escalate" or has_escalation(step.action) else ""
    return RunBlocked(
        reason=reason,
        message=add_escalation(message, to),
        address=failure.address,
        next_step="fix what failed, then resume the run: the step starts over",
        escalate_to=to,
        at=now,
    )

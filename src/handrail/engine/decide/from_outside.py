"""Turns a person's answer into an event."""

from typing import TYPE_CHECKING, get_args

from handrail.engine.fold.dynamic import is_call
from handrail.engine.state.position import current_step_list
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import ApprovalDecided, Decision
from handrail.model.history.run_state import RunState, awaits_confirmation
from handrail.model.workflow.plan import Plan

if TYPE_CHECKING:
    from handrail.engine.guided import confirmation
else:
    confirmation = late_import("handrail.engine.guided.confirmation")


DECISIONS: tuple[str, ...] = get_args(Decision)


@frozen
class Answer:
    """A person's answer to an approval."""

    decision: Decision
    by: str
    feedback: str = ""


def decide_approval(plan: Plan, state: RunState, answer: Answer, now: float) -> ApprovalDecided:
    """Build the event that answers the approval a run waits for."""
    pending = state.pending
    if pending is None or pending.kind != "approval":
        raise UsageError(f"{state.run} is not waiting for approval", next_step=f"handrail status {state.run}")
    if answer.decision not in DECISIONS:
        raise UsageError(
            f"'{answer.decision}' is not a valid answer", next_step=f"choose one of {', '.join(DECISIONS)}"
        )
    goes_back = answer.decision == "revise" and not is_call(state, pending.address)
    back_to, target = _target(plan, state, pending.address) if goes_back else (None, "")
    return ApprovalDecided(
        address=pending.address,
        asked=pending.seq,
        decision=answer.decision,
        feedback=answer.feedback,
        by=answer.by,
        at=now,
        back_to=back_to,
        target=target,
    )


def _target(plan: Plan, state: RunState, address: str) -> tuple[int, str]:
    steps = current_step_list(plan, state)
    action = steps[state.stack[-1].index].action
    # A step that awaits confirmation is itself repeated.
    own = steps[state.stack[-1].index].name if awaits_confirmation(state.steps[address]) else None
    target = action.revise if action.kind == "approval" else own
    most = action.max_revisions if action.kind == "approval" else confirmation.MAX_REVISIONS
    place = next((at for at, step in enumerate(steps) if step.name == target), None)
    ways = f"handrail approve {state.run}, or handrail reject {state.run}"
    if place is None or target is None:
        raise UsageError(f"'{address}' has no step to go back to", next_step=ways)
    if state.revisions.get(address, 0) >= most:
        raise UsageError(f"'{address}' has reached its maximum number of revisions", next_step=ways)
    return place, target

"""A run in a few words, kept beside its events so that lists need not fold them."""

from handrail.model.run import RunState
from handrail.model.values import JsonValue


def summary_of(state: RunState) -> dict[str, JsonValue]:
    """Give what lists show of a run."""
    return {
        "run": state.run,
        "workflow": state.workflow,
        "hash": state.definition,
        "status": state.status,
        "reason": state.reason,
        "message": state.message,
        "next_step": state.next_step,
        "input": dict(state.inputs),
        "current_step": _current(state),
        "started_at": state.started_at,
        "completed_at": state.ended_at,
        "until": state.until,
        "error": state.message if state.status == "failed" else None,
        # Dollars that are known; none where no price is.
        "cost": None if state.spent.unpriced and not state.spent.usd else state.spent.usd,
        "unpriced": state.spent.unpriced,
        "workspace": state.workspace,
        "held_by": state.held_by,
        "parent": None if state.parent is None else state.parent.run,
    }


def _current(state: RunState) -> str | None:
    if state.status in ("succeeded", "cancelled"):
        return None
    if state.pending is not None:
        return state.pending.address
    if state.failure is not None:
        return state.failure.address
    return state.previous or None

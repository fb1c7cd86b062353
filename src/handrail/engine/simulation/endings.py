"""Builds the events by which a simulated step ends."""

from handrail.model.history.events import StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue

UNLIMITED = 1e9
"""More than any budget."""


def end_step(
    state: RunState,
    *,
    ok: bool,
    output: JsonValue,
    details: dict[str, JsonValue] | None = None,
    exit_code: int = 1,
) -> StepEnded:
    """Build the event that ends what is pending."""
    pending = state.pending
    return StepEnded(
        address="" if pending is None else pending.address,
        began=0 if pending is None else pending.seq,
        status="succeeded" if ok else "failed",
        output=output,
        exit_code=0 if ok else exit_code,
        stdout=output if isinstance(output, str) else "",
        error="" if ok else "it failed",
        details=details or {},
        at=0.0,
    )


def cost_details(calls: int, *, all_spent: bool = False) -> dict[str, JsonValue]:
    """Build the details of what an action spent; only agents cost something."""
    spent: dict[str, JsonValue] = {"agent_calls": calls}
    if all_spent:
        spent = {**spent, "usd": UNLIMITED, "tokens": int(UNLIMITED), "seconds": UNLIMITED}
    return {"spent": spent}

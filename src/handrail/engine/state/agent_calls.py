"""The calls of agents that events record."""

from handrail.model.history.events import StepBegan
from handrail.model.workflow.values import JsonValue


def call_of(began: StepBegan) -> dict[str, JsonValue] | None:
    """Give the call of an agent by which the engine performs a step; None where it calls none."""
    call = began.spec if began.action == "agent" else began.spec.get("call")
    return call if isinstance(call, dict) else None

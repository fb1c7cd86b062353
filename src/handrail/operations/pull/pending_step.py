"""The step that waits for a connected agent, with everything that its agent is told."""

from collections.abc import Sequence
from dataclasses import field
from typing import cast

from handrail.engine.guided.repairs import example_output
from handrail.engine.guided.texts import agent_text, step_text
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.desk import Desk
from handrail.runtime.event_records import from_log


@frozen(kw_only=True)
class PulledStep:
    """A step that waits for a connected agent."""

    id: str
    address: str
    title: str
    prompt: str
    """Everything it is told, whole."""
    role: str | None = None
    confirmation: str | None = None
    example: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The smallest output that has everything the step asks for."""


def step_at(desk: Desk, state: RunState, pending: Pending, rules: Sequence[str] = ()) -> PulledStep:
    """Give the step that is pending; the rules of the whole workflow are told with it, where they are given."""
    spec = _reported(intent_of(desk, state).spec, state, pending)
    name = pending.address.rpartition("/")[2]
    role = spec.get("agent_role")
    guided = pending.action != "agent"
    prompt = step_text(spec, notes_known=bool(state.previous), rules=rules) if guided else agent_text(spec)
    return PulledStep(
        id=name,
        address=pending.address,
        title=str(spec.get("title") or name),
        prompt=prompt,
        role=str(role) if role else None,
        confirmation=cast("str | None", spec.get("confirmation")),
        example=example_output(spec),
    )


def _reported(spec: dict[str, JsonValue], state: RunState, pending: Pending) -> dict[str, JsonValue]:
    output = state.steps[pending.address].output
    return {**spec, "reported": output.get("delegations")} if isinstance(output, dict) else spec


def intent_of(desk: Desk, state: RunState) -> StepBegan:
    """Read the intent of the pending step."""
    pending = state.pending
    seq = 0 if pending is None else state.steps[pending.address].began
    began = from_log(desk.log.read(state.run, after=seq - 1, limit=1)[0])
    if not isinstance(began, StepBegan):
        raise TypeError(f"event {seq} of {state.run} began no step")
    return began

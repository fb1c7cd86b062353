"""The step that waits for a connected agent, with everything that the agent is given."""

from collections.abc import Sequence
from dataclasses import field
from typing import cast

from handrail.engine.guided.repairs import example_output
from handrail.engine.guided.texts import agent_text, step_text
from handrail.engine.state.agent_calls import OF_AGENTS, is_holders
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext, holder_in
from handrail.runtime.event_records import decode_event


@frozen(kw_only=True)
class PulledStep:
    """A step that waits for a connected agent."""

    id: str
    address: str
    title: str
    prompt: str
    """The complete instructions."""
    role: str | None = None
    confirmation: str | None = None
    example: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The smallest output that has everything the step asks for."""


def waits_for_holder(state: RunState) -> bool:
    """Return whether a run waits for the connected agent that holds it."""
    pending = state.pending
    return (
        state.status == "running"
        and pending is not None
        and pending.kind == "step"
        and not pending.reported
        and is_holders(state, pending.action)
    )


def is_repairable(state: RunState) -> bool:
    """Return whether its holder alone may repair what blocks a run: handing in again lets it continue.

    More budget, more rounds of a loop, an answer, and a step that was refused too often are up to a person.
    """
    if state.status != "blocked" or not holder_in(state.held_by):
        return False
    if state.reason == "capability":
        return state.pending is not None or state.failure is not None
    failure = state.failure
    if state.pending is not None or failure is None or _is_rejected(state, failure.address):
        return False
    return failure.hindrance == "try" and failure.blocks != "budget"


def _is_rejected(state: RunState, address: str) -> bool:
    """Whether a person rejected a step."""
    output = state.steps[address].output if address in state.steps else None
    said = output.get("confirmation") if isinstance(output, dict) else None
    return isinstance(said, dict) and said.get("decision") == "reject"


def find_due_step(ctx: CallContext, state: RunState) -> Pending | None:
    """Return the step that the holder may hand in now: the pending one, or the one at which the run is blocked."""
    if waits_for_holder(state) or (is_repairable(state) and state.pending is not None):
        return state.pending
    failure = state.failure
    if failure is None or not is_repairable(state) or state.stack[-1].work is not None:
        return None
    began = _read_step_start(ctx, state, failure.address)
    if began is None or began.action not in OF_AGENTS:
        return None
    return Pending(state.seq, failure.address, "step", began.action, began.attempt)


def step_at(ctx: CallContext, state: RunState, pending: Pending, rules: Sequence[str] = ()) -> PulledStep:
    """Build the pending step, with the rules of the whole workflow if they are passed."""
    began = _read_step_start(ctx, state, pending.address)
    if began is None:
        raise TypeError(f"the event that began '{pending.address}' of {state.run} is not in its history")
    output = state.steps[pending.address].output
    spec = {**began.spec, "reported": output.get("delegations")} if isinstance(output, dict) else began.spec
    name = pending.address.rpartition("/")[2]
    role = spec.get("agent_role")
    guided = pending.action != "agent"
    prompt = step_text(spec, notes_known=bool(state.previous), rules=rules) if guided else agent_text(spec, rules)
    told = state.steps[pending.address].feedback if guided else ""
    if told:
        prompt = f"{prompt}\n\n# Sent back\n\nA person sent your work on this step back with this comment:\n\n{told}"
    return PulledStep(
        id=name,
        address=pending.address,
        title=str(spec.get("title") or name),
        prompt=prompt,
        role=str(role) if role else None,
        confirmation=cast("str | None", spec.get("confirmation")),
        example=example_output(spec),
    )


def _read_step_start(ctx: CallContext, state: RunState, address: str) -> StepBegan | None:
    """Read the event by which a step began; None if that is in the history of another run."""
    found = ctx.log.read(state.run, after=state.steps[address].began - 1, limit=1)
    began = decode_event(found[0]) if found else None
    return began if isinstance(began, StepBegan) and began.address == address else None

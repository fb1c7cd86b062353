"""Folds the events of guided workflows: chosen steps, context, refusals, and loops that steps end."""

from collections.abc import Mapping
from dataclasses import replace

from rpds import HashTrieMap

from handrail.engine.state.agent_calls import OF_AGENTS
from handrail.engine.state.given import context_given
from handrail.engine.state.transitions import IllegalMove
from handrail.model.history.events import (
    CapabilityObserved,
    CheckpointMade,
    ContextMerged,
    DelegationReported,
    GapRecorded,
    PreferencesSet,
    RunBlocked,
    RunStarted,
    StepBegan,
    StepChosen,
    StepRefused,
    WorkReported,
)
from handrail.model.history.run_state import RunState, StepState
from handrail.model.workflow.values import JsonValue

OUTSIDE = frozenset({"guided", "delegate", "agent-loop", "parallel-agents", "merge"})
"""Actions that only an outside performer can do."""


def initial_context(started: RunStarted) -> "HashTrieMap[str, JsonValue]":
    """Return the context that a run begins with: its task as `goal`, and its inputs."""
    return HashTrieMap(context_given(started.inputs, started.task))


def merge_context(
    context: "HashTrieMap[str, JsonValue]", changes: Mapping[str, JsonValue]
) -> "HashTrieMap[str, JsonValue]":
    """Return a context with changes applied: a value replaces, null removes."""
    for name, value in changes.items():
        context = context.discard(name) if value is None else context.insert(name, value)
    return context


def fold_step_chosen(state: RunState, event: StepChosen) -> RunState:
    """Move to the step that was chosen."""
    frame = replace(state.stack[-1], index=event.place)
    return replace(state, stack=(*state.stack[:-1], frame))


def fold_context_merged(state: RunState, event: ContextMerged) -> RunState:
    """Change the context."""
    return replace(state, context=merge_context(state.context, event.changes))


def refuse_step(state: RunState, event: StepRefused) -> RunState:
    """Leave the step pending under the sequence number of the refusal, which is the state's next."""
    pending = state.pending
    if pending is None or pending.seq != event.began or pending.address != event.address:
        raise IllegalMove(f"step '{event.address}' was refused, but event {event.began} is not the pending one")
    again = replace(pending, seq=state.seq + 1, attempt=pending.attempt + 1, reported=0)
    step = _add_results(state.steps[event.address]._replace(attempts=again.attempt), event.results)
    return replace(state, pending=again, steps=state.steps.insert(event.address, step))


def fold_work_reported(state: RunState, event: WorkReported) -> RunState:
    """Mark the pending work as reported, so that the engine checks it."""
    pending = state.pending
    if pending is None or pending.seq != event.began or pending.address != event.address:
        raise IllegalMove(f"work for '{event.address}' arrived, but event {event.began} is not the pending one")
    return replace(state, pending=replace(pending, reported=state.seq + 1))


def fold_delegation_reported(state: RunState, event: DelegationReported) -> RunState:
    """Store reported results of delegated work; the step stays pending under the event's number."""
    pending = state.pending
    if pending is None or pending.seq != event.began or pending.address != event.address:
        raise IllegalMove(f"a result for '{event.address}' arrived, but event {event.began} is not the pending one")
    step = _add_results(state.steps[event.address], event.results)
    again = replace(pending, seq=state.seq + 1)
    return replace(state, pending=again, steps=state.steps.insert(event.address, step))


def initial_delegations(event: StepBegan, known: StepState | None) -> JsonValue:
    """Return what a step delegates as it begins; results of an earlier attempt at the same delegations are retained."""
    listed = event.spec.get("delegations")
    if event.action != "delegate" or not isinstance(listed, list):
        return None
    asked: list[JsonValue] = [each.get("workflow") for each in listed if isinstance(each, dict)]
    before = known.output if known is not None and known.status in ("running", "waiting") else None
    if isinstance(before, dict) and before.get("asked") == asked:
        return before
    return {"asked": asked, "delegations": {}}


def _add_results(step: StepState, results: Mapping[str, JsonValue]) -> StepState:
    if not results or not isinstance(step.output, dict):
        return step
    known = step.output.get("delegations")
    before = known if isinstance(known, dict) else {}
    return step._replace(output={**step.output, "delegations": {**before, **results}})


def fold_checkpoint_made(state: RunState, event: CheckpointMade) -> RunState:
    """Change nothing: a checkpoint exists only in the history."""
    del event
    return state


def fold_preferences_set(state: RunState, event: PreferencesSet) -> RunState:
    """Apply a person's preferences."""
    return replace(state, autonomy=event.autonomy, risk=event.risk)


def fold_gap_recorded(state: RunState, event: GapRecorded) -> RunState:
    """Record what is missing."""
    gap: dict[str, JsonValue] = {
        "category": event.category,
        "severity": event.severity,
        "message": event.message,
        "address": event.address,
        "about": event.about,
        "resolved": False,
    }
    return replace(state, gaps=(*state.gaps, gap))


def fold_capability_observed(state: RunState, event: CapabilityObserved) -> RunState:
    """Record a capability of the agent, which resolves the gaps recorded for it."""
    gaps = tuple(_resolve_gap(gap, event.capability) for gap in state.gaps)
    return replace(state, gaps=gaps, capabilities=state.capabilities.insert(event.capability, event.status))


def _resolve_gap(gap: dict[str, JsonValue], capability: str) -> dict[str, JsonValue]:
    meant = gap["category"] == "capability_missing" and gap.get("about") == capability
    return {**gap, "resolved": True} if meant else gap


def stop_loop(state: RunState) -> RunState:
    """End the innermost loop that a step's result may end; the stop affects no other loop."""
    for place in range(len(state.stack) - 1, -1, -1):
        frame = state.stack[place]
        if frame.loop is not None and frame.loop.steered:
            left = replace(frame, loop=replace(frame.loop, leaving=True))
            return replace(state, stack=(*state.stack[:place], left, *state.stack[place + 1 :]))
    return state


def can_go_on(state: RunState) -> bool:
    """Whether a blocked run only needs a performer for its step."""
    # This includes an agent's step if that agent is not available.
    steps_only = state.pending is None or state.pending.action in {*OUTSIDE, "agent"}
    lacks = state.reason in ("step", "capability", "login") and state.failure is None
    return state.status == "blocked" and lacks and steps_only


def block_abandoned_step(state: RunState, now: float) -> RunBlocked | None:
    """Block a run whose holder released it before completing a step that the engine does not perform."""
    pending = state.pending
    if state.status != "running" or state.held_by or pending is None or pending.action not in OUTSIDE - OF_AGENTS:
        return None
    if state.stack[-1].work is not None:
        return None
    message = f"step '{pending.address}' was started by an agent that has released the run"
    hint = f"take the run, then complete the step yourself: handrail take {state.run}"
    return RunBlocked(reason="step", message=message, address=pending.address, next_step=hint, at=now)

"""Folds the calls of a dynamic step: while it is under way, each call is pending in its place, then it is again."""

from typing import Any

from handrail.engine.state.transitions import IllegalMove
from handrail.model.history.events import CallRequested
from handrail.model.history.run_state import FlowState, Pending, RunState, StepState, changed


def call_address(flow: str, number: int) -> str:
    """Give the address of a call."""
    return f"{flow}#{number}"


def requested(state: RunState, event: CallRequested) -> RunState:
    """Remember what was asked for; asked again after an interruption, it must be the same."""
    if state.pending is None or state.pending.action != "dynamic":
        raise IllegalMove(f"call '{event.address}' was requested, but no dynamic step is under way")
    again = state.flow is not None and state.flow.pending.seq == state.pending.seq
    flow = state.flow if state.flow is not None and again else FlowState(state.pending)
    if not 0 <= len(flow.calls) - event.number + 1 <= 1:
        raise IllegalMove(f"call '{event.address}' was requested after {len(flow.calls)} calls")
    calls = flow.calls.insert(event.number - 1, (event.spec_hash, event.asks))
    return changed(state, flow=FlowState(flow.pending, calls))


def is_call(state: RunState, address: str) -> bool:
    """Tell whether an address is that of a call of the dynamic step that is under way."""
    return state.flow is not None and address.startswith(call_address(state.flow.pending.address, 0)[:-1])


def call_over(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    """A call has its outcome, good or bad: the coroutine goes on with it."""
    return changed(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(address, step),
        pending=state.flow.pending if state.flow is not None else None,
        previous=address,
        **changes,
    )


def goes_on_with(state: RunState, kept: Pending | None) -> Pending | None:
    """Give what is pending after an interruption: a call that was given up is asked for again by its coroutine."""
    given_up = state.pending is not None and kept is None and is_call(state, state.pending.address)
    return state.flow.pending if given_up and state.flow is not None else kept


def begun_anew(state: RunState) -> RunState:
    """Give the state of a copy, whose log has no calls: a dynamic step that is under way begins anew."""
    if state.pending is None or not is_call(state, state.pending.address):
        return changed(state, flow=None)
    return changed(state, flow=None, pending=None, status="running", reason=None, message="", until=None)

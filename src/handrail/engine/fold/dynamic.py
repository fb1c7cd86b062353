"""Folds the calls of a dynamic step: each call in turn is pending in its place, and afterwards the step is again.

The calls of a flow stay with it until it is done: in a copy of the run, and when a failed run is resumed. The coroutine
is then started again and finds the outcomes of its calls, so that none is paid for twice.
"""

from typing import Any, cast

from rpds import HashTrieMap

from handrail.engine.state.transitions import IllegalMove
from handrail.model.history import events as ev
from handrail.model.history.run_state import FlowCall, FlowState, Pending, RunState, StepState, update_state

SLEEP = "sleep"
"""The action of a call that only sleeps."""


def call_address(flow: str, name: str, nth: int) -> str:
    """Build the address of the n-th call with a name."""
    return f"{flow}/{name}" if nth == 1 else f"{flow}/{name}#{nth}"


def flow_changes(state: RunState, pending: Pending, event: ev.StepBegan) -> dict[str, Any]:
    """Return the changes that beginning a flow, or its sleep, makes to the run; nothing for any other step."""
    if event.action == "dynamic":
        return {"flow": start_flow(state, pending, event.at)}
    return sleep_changes(event) if event.action == SLEEP else {}


def start_flow(state: RunState, pending: Pending, at: float) -> FlowState:
    """Return the flow state with which the coroutine of a dynamic step starts, including the calls it already made."""
    before, known = state.flow, state.steps.get(pending.address)
    if before is None or before.pending.address != pending.address or known is None or known.status == "succeeded":
        return FlowState(pending, began_at=at)
    calls = _calls_before_failure(state, before) if known.status == "failed" else before.calls
    return FlowState(pending, calls, before.began_at)


def _calls_before_failure(state: RunState, flow: FlowState) -> "HashTrieMap[int, FlowCall]":
    """Return the calls before the last one that failed, since resuming a failed flow is meant to retry that one."""
    failed = [number for number, call in flow.calls.items() if _status(state, call) == "failed"]
    return _take_first_calls(flow.calls, max(failed)) if failed else flow.calls


def _status(state: RunState, call: FlowCall) -> str:
    step = state.steps.get(call.address)
    return "" if step is None else step.status


def _take_first_calls(calls: "HashTrieMap[int, FlowCall]", count: int) -> "HashTrieMap[int, FlowCall]":
    for number in range(count, len(calls)):
        calls = calls.remove(number)
    return calls


def fold_call_requested(state: RunState, event: ev.CallRequested) -> RunState:
    """Record the request of a call; when it is requested again after an interruption, it must be the same."""
    if state.pending is None or state.pending.action != "dynamic" or state.flow is None:
        raise IllegalMove(f"call '{event.address}' was requested, but no dynamic step is running")
    if not 1 <= event.number <= len(state.flow.calls) + 1:
        raise IllegalMove(f"call '{event.address}' was requested after {len(state.flow.calls)} calls")
    # In a log of an older version, a flow that is started again begins with its first call.
    before = _take_first_calls(state.flow.calls, event.number - 1)
    calls = before.insert(event.number - 1, FlowCall(event.spec_hash, event.asks, event.address))
    return update_state(state, flow=FlowState(state.flow.pending, calls, state.flow.began_at))


def is_call(state: RunState, address: str) -> bool:
    """Whether an address is that of the last call made by the dynamic step in progress."""
    if state.flow is None or not state.flow.calls:
        return False
    return state.flow.calls[len(state.flow.calls) - 1].address == address


def end_call(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    """Record the outcome of a call, good or bad, with which the coroutine continues."""
    return update_state(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(address, step),
        pending=state.flow.pending if state.flow is not None else None,
        previous=address,
        **changes,
    )


def add_call_record(step: StepState, event: ev.StepEnded) -> tuple[StepState, dict[str, Any]]:
    """Store what the run of a call reports beside its outcome: the agent of its conversation, and its turns."""
    turns = event.details.get("turns")
    step = step._replace(agent=str(event.details.get("agent") or step.agent))
    return step, {"turns": HashTrieMap(cast("dict[str, int]", turns))} if isinstance(turns, dict) else {}


def sleep_changes(event: ev.StepBegan) -> dict[str, Any]:
    """Return the changes that a sleeping call makes to the run."""
    until = cast("float", event.spec["until"])
    return {"status": "waiting", "reason": "timer", "message": f"'{event.address}' waits", "until": until}


def is_asleep(state: RunState) -> bool:
    """Whether a flow is sleeping."""
    pending = state.pending
    return pending is not None and pending.action == SLEEP and state.reason == "timer"


def wake(state: RunState, at: float) -> RunState:
    """End a sleep because its time has come, or because a person does not want to wait for it."""
    address = cast("Pending", state.pending).address
    step = state.steps[address]._replace(status="succeeded", output=None, ended_at=at)
    return end_call(state, address, step, status="running", reason=None, message="", until=None)


def fold_flow_question(state: RunState, event: ev.QuestionAsked) -> RunState:
    """Wait for a person's answer that a flow asks for."""
    step = StepState("waiting", 1, began=state.seq + 1, began_at=event.at)
    pending = Pending(state.seq + 1, event.address, "question", "question")
    return update_state(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(event.address, step),
        pending=pending,
        status="waiting",
        reason="question",
        message=event.question,
    )


def fold_flow_answer(state: RunState, event: ev.QuestionAnswered) -> RunState:
    """Let the coroutine continue with a person's answer."""
    output: Any = {"answer": event.answer, "by": event.by}
    step = state.steps[event.address]._replace(status="succeeded", output=output, ended_at=event.at)
    return end_call(state, event.address, step, status="running", reason=None, message="")


def pending_after_interruption(state: RunState, kept: Pending | None) -> Pending | None:
    """Return what is pending after an interruption: a call that was given up is requested again by its coroutine."""
    given_up = state.pending is not None and kept is None and is_call(state, state.pending.address)
    return state.flow.pending if given_up and state.flow is not None else kept


def restart_flow(state: RunState) -> RunState:
    """Return the state of a copy, whose coroutine is started again with the outcomes of the calls that are over."""
    pending = state.pending
    if pending is None or not (pending.action == "dynamic" or is_call(state, pending.address)):
        return state
    return update_state(state, pending=None, status="running", reason=None, message="", until=None)

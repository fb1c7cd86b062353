"""Folds the calls of a dynamic step: each call in turn is pending in its place, and afterwards the step is again.

The calls of a flow stay with it until it is done: in a copy of the run, and when a failed run is resumed. The coroutine
is then started again and finds the outcomes of its calls, so that none is paid for twice.
"""

from typing import Any, cast

from rpds import HashTrieMap

from handrail.engine.state.transitions import IllegalMove
from handrail.model.history import events as ev
from handrail.model.history.run_state import FlowCall, FlowState, Pending, RunState, StepState, changed

SLEEP = "sleep"
"""The action of a call that only sleeps."""


def call_address(flow: str, name: str, nth: int) -> str:
    """Build the address of the n-th call with a name."""
    return f"{flow}/{name}" if nth == 1 else f"{flow}/{name}#{nth}"


def changes_by(state: RunState, pending: Pending, event: ev.StepBegan) -> dict[str, Any]:
    """Return the changes that beginning a flow, or its sleep, makes to the run; nothing for any other step."""
    if event.action == "dynamic":
        return {"flow": started(state, pending, event.at)}
    return goes_to_sleep(event) if event.action == SLEEP else {}


def started(state: RunState, pending: Pending, at: float) -> FlowState:
    """Return the flow state with which the coroutine of a dynamic step starts, including the calls it already made."""
    before, known = state.flow, state.steps.get(pending.address)
    if before is None or before.pending.address != pending.address or known is None or known.status == "succeeded":
        return FlowState(pending, began_at=at)
    calls = _until_failed(state, before) if known.status == "failed" else before.calls
    return FlowState(pending, calls, before.began_at)


def _until_failed(state: RunState, flow: FlowState) -> "HashTrieMap[int, FlowCall]":
    """Return the calls before the last one that failed, since resuming a failed flow is meant to retry that one."""
    failed = [number for number, call in flow.calls.items() if _status(state, call) == "failed"]
    return _first(flow.calls, max(failed)) if failed else flow.calls


def _status(state: RunState, call: FlowCall) -> str:
    step = state.steps.get(call.address)
    return "" if step is None else step.status


def _first(calls: "HashTrieMap[int, FlowCall]", count: int) -> "HashTrieMap[int, FlowCall]":
    for number in range(count, len(calls)):
        calls = calls.remove(number)
    return calls


def requested(state: RunState, event: ev.CallRequested) -> RunState:
    """Record the request of a call; when it is requested again after an interruption, it must be the same."""
    if state.pending is None or state.pending.action != "dynamic" or state.flow is None:
        raise IllegalMove(f"call '{event.address}' was requested, but no dynamic step is under way")
    if not 1 <= event.number <= len(state.flow.calls) + 1:
        raise IllegalMove(f"call '{event.address}' was requested after {len(state.flow.calls)} calls")
    # In a log of an older version, a flow that is started again begins with its first call.
    before = _first(state.flow.calls, event.number - 1)
    calls = before.insert(event.number - 1, FlowCall(event.spec_hash, event.asks, event.address))
    return changed(state, flow=FlowState(state.flow.pending, calls, state.flow.began_at))


def is_call(state: RunState, address: str) -> bool:
    """Whether an address is that of the last call made by the dynamic step in progress."""
    if state.flow is None or not state.flow.calls:
        return False
    return state.flow.calls[len(state.flow.calls) - 1].address == address


def call_over(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    """Record the outcome of a call, good or bad, with which the coroutine continues."""
    return changed(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(address, step),
        pending=state.flow.pending if state.flow is not None else None,
        previous=address,
        **changes,
    )


def with_call_record(step: StepState, event: ev.StepEnded) -> tuple[StepState, dict[str, Any]]:
    """Store what the run of a call reports beside its outcome: the agent of its conversation, and its turns."""
    turns = event.details.get("turns")
    step = step._replace(agent=str(event.details.get("agent") or step.agent))
    return step, {"turns": HashTrieMap(cast("dict[str, int]", turns))} if isinstance(turns, dict) else {}


def goes_to_sleep(event: ev.StepBegan) -> dict[str, Any]:
    """Return the changes that a sleeping call makes to the run."""
    until = cast("float", event.spec["until"])
    return {"status": "waiting", "reason": "timer", "message": f"'{event.address}' lets time pass", "until": until}


def is_asleep(state: RunState) -> bool:
    """Whether a flow is sleeping."""
    pending = state.pending
    return pending is not None and pending.action == SLEEP and state.reason == "timer"


def woken(state: RunState, at: float) -> RunState:
    """End a sleep because its time has come, or because a person does not want to wait for it."""
    address = cast("Pending", state.pending).address
    step = state.steps[address]._replace(status="succeeded", output=None, ended_at=at)
    return call_over(state, address, step, status="running", reason=None, message="", until=None)


def asked(state: RunState, event: ev.QuestionAsked) -> RunState:
    """Wait for a person's answer that a flow asks for."""
    step = StepState("waiting", 1, began=state.seq + 1, began_at=event.at)
    pending = Pending(state.seq + 1, event.address, "question", "question")
    return changed(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(event.address, step),
        pending=pending,
        status="waiting",
        reason="question",
        message=event.question,
    )


def answered(state: RunState, event: ev.QuestionAnswered) -> RunState:
    """Let the coroutine continue with a person's answer."""
    output: Any = {"answer": event.answer, "by": event.by}
    step = state.steps[event.address]._replace(status="succeeded", output=output, ended_at=event.at)
    return call_over(state, event.address, step, status="running", reason=None, message="")


def goes_on_with(state: RunState, kept: Pending | None) -> Pending | None:
    """Return what is pending after an interruption: a call that was given up is requested again by its coroutine."""
    given_up = state.pending is not None and kept is None and is_call(state, state.pending.address)
    return state.flow.pending if given_up and state.flow is not None else kept


def begun_anew(state: RunState) -> RunState:
    """Return the state of a copy, whose coroutine is started again with the outcomes of the calls that are over."""
    pending = state.pending
    if pending is None or not (pending.action == "dynamic" or is_call(state, pending.address)):
        return state
    return changed(state, pending=None, status="running", reason=None, message="", until=None)

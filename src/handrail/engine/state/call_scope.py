"""What the run of a flow's call knows about earlier calls, and what it reports to the flow when it is over."""

from typing import Any

from handrail.model.history.run_state import RunState, StepState
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue

_DONE = ("succeeded", "failed")
_TOLD = ("summary", "session", "agent", "commit", "branch", "changed", "head")


def scope_of_call(state: RunState, address: str) -> dict[str, JsonValue]:
    """Return the names, steps and turns that the call at an address sees: those of the calls that ended before it."""
    calls = () if state.flow is None else tuple(state.flow.calls[number] for number in range(len(state.flow.calls)))
    over = [call.address for call in calls if call.address != address and is_over(state, call.address)]
    steps: dict[str, Any] = {each: state.steps[each] for each in over}
    return {
        "names": {name_of(each): steps[each].output for each in over if steps[each].status == "succeeded"},
        "latest": {name_of(each): each for each in over},
        "steps": steps,
        "turns": dict(state.turns.items()),
        "previous": over[-1] if over else "",
    }


def is_over(state: RunState, address: str) -> bool:
    """Whether a call has its outcome."""
    step = state.steps.get(address)
    return step is not None and step.status in _DONE


def name_of(address: str) -> str:
    """Return the name by which later calls refer to a call, which is the one that its flow gave it."""
    return make_identifier(address.rpartition("/")[2].partition("#")[0])


def record_of_call(child: RunState, step: StepState | None) -> dict[str, JsonValue]:
    """Return what a call's run reports to the flow beside its outcome: its turns, and what later calls build on."""
    known = {} if step is None else {name: getattr(step, name) for name in _TOLD}
    return {"turns": dict(child.turns.items()), **{name: value for name, value in known.items() if value}}

"""Steps of several efforts: how each kind takes in what one effort came to. What follows is decided in `decide`.

Each kernel keeps its standing as plain data, so that a run's state can hold it; the same data and the same outcome
always give the same new data.
"""

from collections.abc import Callable
from dataclasses import replace

from handrail.engine.composite import gate_fix as fixes
from handrail.engine.composite import merge as merges
from handrail.engine.composite import review_loop as reviews
from handrail.model.history.events import StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]

_HEARD: dict[str, Callable[[Data, StepEnded], Data]] = {
    "gate": fixes.heard,
    "agent-loop": reviews.heard,
    "merge": merges.heard,
}


def heard(state: RunState, event: StepEnded) -> RunState:
    """Give the state in which the innermost of these steps knows how its effort ended."""
    frame = state.stack[-1]
    if frame.work is None or frame.work.action not in _HEARD:
        return state
    data = _HEARD[frame.work.action](frame.work.data, event)
    work = replace(frame.work, data=data)
    return replace(state, stack=(*state.stack[:-1], replace(frame, work=work)))

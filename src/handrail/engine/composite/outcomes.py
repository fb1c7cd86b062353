"""Records how each action of a composite step ended; `decide` decides what follows.

Each kind stores its progress as plain data, so that a run's state can hold it; the same data and the same outcome
always produce the same new data.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.model.history.events import StepEnded
from handrail.model.history.run_state import RunState, WorkState
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.composite import gate_fix as fixes
    from handrail.engine.composite import merge as merges
    from handrail.engine.composite import pull_request as pull_requests
    from handrail.engine.composite import review_loop as reviews
else:
    fixes = late_import("handrail.engine.composite.gate_fix")
    merges = late_import("handrail.engine.composite.merge")
    pull_requests = late_import("handrail.engine.composite.pull_request")
    reviews = late_import("handrail.engine.composite.review_loop")

Data = dict[str, JsonValue]


def record_outcome(state: RunState, event: StepEnded) -> RunState:
    """Return the state in which the innermost composite step has recorded how its action ended."""
    frame = state.stack[-1]
    data = None if frame.work is None else _update_kernel_data(frame.work, event)
    if frame.work is None or data is None:
        return state
    work = replace(frame.work, data=data)
    return replace(state, stack=(*state.stack[:-1], replace(frame, work=work)))


def _update_kernel_data(work: WorkState, event: StepEnded) -> Data | None:
    match work.action:
        case "gate":
            return fixes.record_outcome(work.data, event)
        case "agent-loop":
            return reviews.record_outcome(work.data, event)
        case "merge":
            return merges.record_outcome(work.data, event)
        case "pull-request":
            return pull_requests.record_outcome(work.data, event)
        case _:
            return None

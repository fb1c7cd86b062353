"""Finds the position of a run in its plan."""

from typing import NamedTuple

from handrail.model.history.events import Why
from handrail.model.history.run_state import RunState
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import body
from handrail.model.workflow.agent_names import NO_AGENT_NAMES, AgentNames
from handrail.model.workflow.plan import Plan, Step


class StepStart(NamedTuple):
    """The circumstances in which a step begins."""

    address: str
    now: float
    why: Why | None = None
    attempt: int = 1
    agent_names: AgentNames = NO_AGENT_NAMES


def step_name_of(state: RunState, address: str) -> str:
    """Return the name by which a person refers to the step at an address: a role of a step goes by the step's name."""
    work = state.stack[-1].work
    return make_identifier((address if work is None else work.address).rpartition("/")[2])


def current_step_list(plan: Plan, state: RunState) -> tuple[Step, ...]:
    """Return the list of steps that is being executed."""
    steps = plan.steps
    for frame in state.stack[:-1]:
        steps = body(steps[frame.index].action)
    return steps


def enclosing_step(plan: Plan, state: RunState) -> Step | None:
    """Return the step whose body is being executed; None at the top level."""
    if len(state.stack) == 1:
        return None
    steps = plan.steps
    for frame in state.stack[:-2]:
        steps = body(steps[frame.index].action)
    return steps[state.stack[-2].index]


def find_current_step(plan: Plan, state: RunState) -> tuple[Step, str]:
    """Return the next step and its address: before a round the loop itself, inside a composite step that step."""
    frame = state.stack[-1]
    if frame.loop is not None and frame.index < 0:
        step = enclosing_step(plan, state)
        if step is not None:
            return step, frame.loop.address
    if frame.work is not None and (step := enclosing_step(plan, state)) is not None:
        return step, frame.work.address
    steps = current_step_list(plan, state)
    step = steps[min(frame.index, len(steps) - 1)]
    return step, frame.prefix + step.name

"""Collects what a run returns to its caller: the outputs that its steps name, and nothing else."""

from collections.abc import Iterator

from handrail.model.history.run_state import RunState
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import GroupAction, body
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue


def results_of(plan: Plan, state: RunState) -> dict[str, JsonValue]:
    """Return the named outputs of a run's steps, as far as it got."""
    # A run that ended inside a routine still has the names from before it.
    hidden = next((frame.group for frame in state.stack if frame.group is not None), None)
    names = state.names if hidden is None else hidden.names
    wanted = sorted({make_identifier(name) for name in _output_names(plan.steps)})
    return {name: names[name] for name in wanted if name in names}


def _output_names(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if step.output is not None:
            yield step.output
        # The names of a routine's steps are not visible outside of it.
        if not isinstance(step.action, GroupAction):
            yield from _output_names(body(step.action))

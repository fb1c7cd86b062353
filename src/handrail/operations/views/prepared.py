"""What steps of a run have prepared for a person: the branch of a pull request, a file of issues."""

from handrail.model.history.run_state import RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import describe_preparation
from handrail.operations.views.run_document import plan_of
from handrail.ports.log import Log


def find_prepared_steps(log: Log, state: RunState) -> dict[str, str]:
    """Return the summary of each such step that has ended, by its address."""
    steps = walk_steps(plan_of(log, state.plan).steps)
    names = {address.rpartition("/")[2] for address, step in steps if describe_preparation(step.action) is not None}
    found = {address: step for address, step in state.steps.items() if _name(address) in names}
    return {address: step.summary for address, step in found.items() if step.status == "succeeded" and step.summary}


def _name(address: str) -> str:
    return address.rpartition("/")[2].partition("@")[0]

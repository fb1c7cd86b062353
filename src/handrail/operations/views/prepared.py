"""What steps of a run have handed on: a pull request, or the branch of one; issues, or a file of them."""

from handrail.model.history.run_state import RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import CreateIssuesAction, PullRequestAction
from handrail.operations.views.run_document import plan_of
from handrail.ports.log import Log


def find_prepared_steps(log: Log, state: RunState) -> dict[str, str]:
    """Return the summary of each such step that has ended, by its address."""
    steps = walk_steps(plan_of(log, state.plan).steps)
    handed = (address for address, step in steps if isinstance(step.action, PullRequestAction | CreateIssuesAction))
    names = {address.rpartition("/")[2] for address in handed}
    found = {address: step for address, step in state.steps.items() if _name(address) in names}
    return {address: step.summary for address, step in found.items() if step.status == "succeeded" and step.summary}


def _name(address: str) -> str:
    return address.rpartition("/")[2].partition("@")[0]

"""Several runs side by side: outcome, steps, cost, time and what they changed."""

from collections import Counter

from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.operations.views.costs import Cost, cost_of
from handrail.operations.views.diff import span_of_run
from handrail.operations.views.run_tree import find_acting_run
from handrail.operations.views.step_addresses import list_own_states, members, step_status
from handrail.ports.delivery import Delivery
from handrail.ports.log import Log
from handrail.ports.workspaces import FileChange


@frozen
class ComparedRun:
    """One run of a comparison."""

    state: RunState
    outcome: str
    steps: dict[str, int]
    """The number of steps by status."""
    cost: Cost
    files: tuple[FileChange, ...] | None
    """What it changed; None if unknown."""


def compare(log: Log, workspaces: Delivery, runs: tuple[str, ...]) -> tuple[ComparedRun, ...]:
    """Collect the same facts about several runs."""
    return tuple(_side(log, workspaces, run) for run in runs)


def count_changed_lines(files: tuple[FileChange, ...]) -> tuple[int, int]:
    """Sum up the lines that were added and deleted."""
    return sum(each.added or 0 for each in files), sum(each.deleted or 0 for each in files)


def _side(log: Log, workspaces: Delivery, run: str) -> ComparedRun:
    where = find_acting_run(log, run)
    steps: Counter[str] = Counter()
    for _, state in list_own_states(log, members(log, run)):
        steps.update(step_status(state, step) for step in state.steps.values())
    return ComparedRun(
        where.state, _outcome(where.acting), dict(steps), cost_of(log, run), _files(workspaces, where.state)
    )


def _outcome(state: RunState) -> str:
    if state.status in ("succeeded", "cancelled"):
        return state.status
    told = f": {state.message}" if state.message else ""
    return f"{state.status}{f' ({state.reason})' if state.reason else ''}{told}"


def _files(workspaces: Delivery, state: RunState) -> tuple[FileChange, ...] | None:
    try:
        span = span_of_run(workspaces, state)
        return workspaces.changes(span.tree, span.since, span.until)
    except HandrailError:
        return None

"""Finds the runs that work on an issue: those that were started on it, and the copies that people made of them.

A run says itself which issue it works on, and so does one that was imported from a file. That alone counts for nothing:
only a run that was started on the issue on this machine, or a copy of one, is reported there and takes its comments.
"""

from collections.abc import Collection

from handrail.engine.issues.work_state import WorkState
from handrail.errors import NotFound
from handrail.model.history.run_lines import Filter
from handrail.model.issues import IssueRef
from handrail.ports.log import Log
from handrail.runtime.history import state_of

MAX_RUNS = 500
"""The number of runs whose issues are looked after: those that changed last."""


def find_runs(log: Log, ref: IssueRef, work: WorkState) -> tuple[str, ...]:
    """List the runs that work on an issue, in the order in which they were assigned, and then their copies."""
    own = [run for run in work.runs if log.last(run).seq]
    rows = log.summaries(Filter(holding=("on_issue",), top=True, limit=MAX_RUNS))
    named = (row.key for row in rows if row.document.get("on_issue") == str(ref) and row.key not in work.runs)
    return (*own, *sorted(run for run in named if find_original(log, run, work.runs)))


def find_original(log: Log, run: str, assigned: Collection[str]) -> str:
    """Return the assigned run that a run is or was copied from; empty if there is none."""
    passed: set[str] = set()
    while run not in assigned:
        if run in passed:
            return ""
        passed.add(run)
        try:
            state = state_of(log, run)
        except NotFound:
            return ""
        if state.imported or state.forked_from is None:
            return ""
        run = state.forked_from[0]
    return run

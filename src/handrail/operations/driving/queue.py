"""Keeps the queue moving: the runs for which a queued run waits may have no driver."""

from handrail.model.history.run_lines import Filter, is_run
from handrail.operations.driving.background_driver import ensure, find_background_driver
from handrail.ports.log import Log
from handrail.ports.programs import Programs
from handrail.runtime.history import RootFinder
from handrail.runtime.run_writer import attendant_of
from handrail.sources.folders import Folders


def ensure_queue_driver(log: Log, folders: Folders, programs: Programs, run: str) -> None:
    """Start a background driver if there is none, and runs of other trees could move but have no driver."""
    if find_background_driver(folders) is None and _has_unattended_runs(log, run):
        ensure(folders, programs)


def _has_unattended_runs(log: Log, run: str) -> bool:
    """Return whether a run of another tree can move, and no process drives it or attends to it."""
    roots = RootFinder(log)
    rows = log.summaries(Filter(statuses=("running", "queued")))
    movable = [row.key for row in rows if row.document.get("admission") and not row.document.get("held_by")]
    called = [each for each in log.pending_streams() if is_run(each)]
    others = {each for each in (*movable, *called) if roots(each) != roots(run)}
    return any(log.holder(each) is None and attendant_of(log, roots(each)) is None for each in others)

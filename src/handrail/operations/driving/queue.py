"""Sees to it that the queue moves on: what a waiting run waits for may be driven by nobody."""

from handrail.model.history.run_lines import is_run, root_of
from handrail.operations.driving.background_driver import ensure, who
from handrail.ports.log import Filter, Log
from handrail.ports.programs import Programs
from handrail.runtime.run_writer import attendant_of
from handrail.sources.folders import Folders


def move_on(log: Log, folders: Folders, programs: Programs, run: str) -> None:
    """Start a background driver where one is missing: runs before this one are left, or have a message to take up."""
    if who(folders) is None and _are_left(log, root_of(run)):
        ensure(folders, programs)


def _are_left(log: Log, root: str) -> bool:
    """Tell whether a run of another tree can move, and no process drives it or attends to it."""
    rows = (row for status in ("running", "queued") for row in log.summaries(Filter(status=status)))
    movable = [row.key for row in rows if row.document.get("admission") and not row.document.get("held_by")]
    called = [each for each in log.pending_streams() if is_run(each)]
    others = {each for each in (*movable, *called) if root_of(each) != root}
    return any(log.holder(each) is None and attendant_of(log, root_of(each)) is None for each in others)

"""Removes what runs left behind and nobody needs any more, in every repository that a run of the log knows."""

from collections.abc import Iterator
from dataclasses import replace

from handrail.errors import NotFound, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.events import RunForked, RunStarted
from handrail.model.history.trees import TreeSource
from handrail.operations.views.run_tree import root_of
from handrail.ports.delivery import Delivery, Leftover, Life
from handrail.ports.log import Filter, Log
from handrail.runtime.event_records import from_log
from handrail.runtime.history import state_of


@frozen
class Cleaned:
    """What was removed, or would be; what is kept, each with its reasons; the refs that keep what was in it."""

    removed: tuple[Leftover, ...]
    kept: tuple[Leftover, ...]
    refs: tuple[str, ...] = ()


def clean(log: Log, workspaces: Delivery, *, dry_run: bool) -> Cleaned:
    """Look at everything that runs left, and remove what may be removed."""
    found = workspaces.survey_leftovers(lambda run: _life(log, run), dict.fromkeys(_repositories(log)))
    if dry_run:
        return Cleaned(tuple(each for each in found if not each.reasons), tuple(each for each in found if each.reasons))
    removed: list[Leftover] = []
    kept: list[Leftover] = []
    refs: list[str] = []
    for each in found:
        try:
            refs += workspaces.remove_leftover(each)
        except WorkspaceFault as fault:
            kept.append(replace(each, reasons=(fault.message,)))
        else:
            (kept if each.reasons else removed).append(each)
    return Cleaned(tuple(removed), tuple(kept), tuple(dict.fromkeys(refs)))


def _life(log: Log, run: str) -> Life:
    """An item's branch is wanted as long as the run around it may merge it; a failed run can still be resumed."""
    try:
        state = state_of(log, root_of(run))
    except NotFound:
        return "unknown"
    return "over" if state.over else "alive"


def _repositories(log: Log) -> Iterator[str]:
    for row in log.summaries(Filter()):
        source = _source(from_log(log.read(row.key, limit=1)[0]))
        if source is not None:
            yield source.repository


def _source(first: object) -> TreeSource | None:
    match first:
        case RunStarted():
            return first.source
        case RunForked():
            return first.source_tree
        case _:
            return None

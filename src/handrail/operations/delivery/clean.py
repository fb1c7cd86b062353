"""Removes what runs left behind and nobody needs any more, in every repository that a run of the log knows."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from handrail.errors import NotFound, StorageDamaged, StorageTooNew, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.history.events import RunForked, RunStarted
from handrail.model.history.run_lines import Filter
from handrail.model.history.trees import TreeSource
from handrail.operations.views.run_tree import root_of
from handrail.operations.workflows.repository_config import read_configured
from handrail.ports.delivery import Delivery, Leftover, Life, Retention
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of
from handrail.sources.config.config import KEEP_BLAME, KEEP_SNAPSHOTS, RepositoryConfig, read_user_config
from handrail.sources.folders import Folders
from handrail.sources.tiers import Location


@frozen
class CleanResult:
    """What was or would be removed; what stays, with the reasons; and the refs that store removed content."""

    removed: tuple[Leftover, ...]
    kept: tuple[Leftover, ...]
    refs: tuple[str, ...] = ()


def retention_here(folders: Folders, now: float) -> Retention:
    """Return how long refs are stored: as the user's configuration says, or else the repository's, if it is trusted."""
    own = read_user_config(folders, Report())

    def days(repository: str) -> int:
        if own.keep_snapshots is not None:
            return own.keep_snapshots
        configured = _trusted_config(folders, repository)
        said = None if configured is None else configured.keep_snapshots
        return KEEP_SNAPSHOTS if said is None else said

    def blame_days(repository: str) -> int:
        if own.keep_blame is not None:
            return own.keep_blame
        configured = _trusted_config(folders, repository)
        said = None if configured is None else configured.keep_blame
        return KEEP_BLAME if said is None else said

    return Retention(days, now, blame_days)


def _trusted_config(folders: Folders, repository: str) -> RepositoryConfig | None:
    configured = read_configured(Location(folders, Path(repository), Path(repository)))
    return None if configured is None or configured.distrust else configured.config


def clean(log: Log, workspaces: Delivery, retention: Retention, *, dry_run: bool) -> CleanResult:
    """Examine everything that runs left behind, and remove what may be removed."""
    known = dict.fromkeys(_repositories(log))
    found = workspaces.survey_leftovers(lambda run: _life(log, run), known, retention)
    if dry_run:
        return CleanResult(
            tuple(each for each in found if not each.reasons), tuple(each for each in found if each.reasons)
        )
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
    return CleanResult(tuple(removed), tuple(kept), tuple(dict.fromkeys(refs)))


def _life(log: Log, run: str) -> Life:
    """Return whether a run still needs its work: an item does until its root ends, and a failed run can be resumed."""
    try:
        state = state_of(log, root_of(log, run))
    except NotFound:
        return "unknown"
    except (StorageDamaged, StorageTooNew):
        # What it left behind may be all that remains of it.
        return "alive"
    return "over" if state.is_over else "alive"


def _repositories(log: Log) -> Iterator[str]:
    for row in log.summaries(Filter()):
        if row.document.get("imported"):
            # The history of an import names places of somebody else; its own place has a record.
            continue
        try:
            source = next((_source(decode_event(first)) for first in log.read(row.key, limit=1)), None)
        except (StorageDamaged, StorageTooNew):
            continue
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

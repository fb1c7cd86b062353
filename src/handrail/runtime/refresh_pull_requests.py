"""Looks at the open pull requests of runs, and records what happened to them: checks, reviews, merged, closed.

One list call per repository says which pull requests changed; only those are read. The result of a check does not
change the pull request itself, so one whose checks are not decided is read each time. After a look at which nothing had
changed, the next one is later, from one minute to a quarter of an hour.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from handrail.engine.fold.pull_requests import find_new_facts
from handrail.errors import NotFound, TrackerBusy, TrackerFault
from handrail.frozen import frozen
from handrail.model.issues import RepositoryRef
from handrail.model.pull_request_facts import PullRequestFact, PullRequestRecord
from handrail.model.pull_requests import PullRequestRef, PullRequestState
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Log
from handrail.ports.trackers import TrackerCatalog
from handrail.runtime.pull_request_log import list_records, record_facts

SHORTEST, LONGEST = 60.0, 900.0
"""Seconds between two looks: at first, and when nothing happens for long."""
_UNDECIDED = ("pending", "unknown")


@frozen(kw_only=True)
class PullRequestNews:
    """What a look found out about one pull request."""

    name: str
    run: str
    url: str
    facts: tuple[PullRequestFact, ...]


@frozen(kw_only=True)
class RefreshResult:
    """What a look found, and when it is time for the next one."""

    news: tuple[PullRequestNews, ...] = ()
    looked_at: int = 0
    """How many pull requests are open."""
    problems: tuple[str, ...] = ()
    """Why a host could not be asked."""
    next_look: float | None = None
    """When to look again; None if there is nothing to look at."""
    pause: float = SHORTEST
    since: Mapping[str, str] = field(default_factory=dict[str, str])
    """What to pass to the next look, by repository."""


async def refresh_pull_requests(
    log: Log, catalog: TrackerCatalog, now: float, redactor: Redactor, before: RefreshResult | None = None
) -> RefreshResult:
    """Look once at the open pull requests of all runs."""
    return await _refresh(_Look(log, catalog, now, redactor), list_records(log, only_open=True), before)


async def refresh_run(log: Log, catalog: TrackerCatalog, now: float, redactor: Redactor, root: str) -> RefreshResult:
    """Look once at all pull requests of a run, also at those that were closed."""
    return await _refresh(_Look(log, catalog, now, redactor), list_records(log, root), None)


@frozen
class _Look:
    log: Log
    catalog: TrackerCatalog
    now: float
    redactor: Redactor


async def _refresh(look: _Look, records: Sequence[PullRequestRecord], before: RefreshResult | None) -> RefreshResult:
    news: list[PullRequestNews] = []
    problems: list[str] = []
    since = dict(before.since) if before is not None else {}
    busy = 0.0
    for repository, ours in _by_repository(records).items():
        try:
            found, since[str(repository)] = await _look_at(look, repository, ours, since.get(str(repository), ""))
            news += found
        except TrackerBusy as error:
            busy = max(busy, error.until)
            problems.append(error.message)
        except (TrackerFault, NotFound) as error:
            problems.append(error.message)
    pause = SHORTEST if news or before is None else min(LONGEST, before.pause * 2)
    return RefreshResult(
        news=tuple(news),
        looked_at=len(records),
        problems=tuple(dict.fromkeys(problems)),
        next_look=max(look.now + pause, busy) if records else None,
        pause=pause,
        since=since,
    )


def _by_repository(records: Iterable[PullRequestRecord]) -> dict[RepositoryRef, list[PullRequestRecord]]:
    found: dict[RepositoryRef, list[PullRequestRecord]] = {}
    for record in records:
        repository = _repository_of(record)
        if repository is not None and record.number:
            found.setdefault(repository, []).append(record)
    return found


def _repository_of(record: PullRequestRecord) -> RepositoryRef | None:
    parts = record.name.rpartition("#")[0].split("/")
    return RepositoryRef(*parts) if len(parts) == 3 else None


async def _look_at(
    look: _Look, repository: RepositoryRef, ours: Sequence[PullRequestRecord], since: str
) -> tuple[list[PullRequestNews], str]:
    host = look.catalog.pull_requests(repository, ours[0].run)
    page = await host.list_changed(repository, since)
    changed = {each.ref.number for each in page.pull_requests}
    # Without an earlier look the list holds the latest changes of the whole repository, not all of ours.
    wanted = [each for each in ours if not since or each.number in changed or each.checks in _UNDECIDED]
    news: list[PullRequestNews] = []
    for record in wanted:
        shown = await host.read(PullRequestRef(repository, record.number))
        facts = await _record(look, shown)
        if facts:
            news.append(PullRequestNews(name=record.name, run=record.run, url=record.url, facts=facts))
    return news, page.since


async def _record(look: _Look, shown: PullRequestState) -> tuple[PullRequestFact, ...]:
    stream = shown.pull_request.ref.stream
    return await record_facts(look.log, stream, lambda known: find_new_facts(known, shown, look.now), look.redactor)

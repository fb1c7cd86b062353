"""Looks once at the pull requests of runs, on a person's word."""

import time
from collections.abc import Iterator

from handrail.engine.fold.pull_requests import describe_fact
from handrail.operations.views.run_tree import root_of
from handrail.ports.trackers import TrackerCatalog
from handrail.runtime.refresh_pull_requests import RefreshResult, refresh_pull_requests, refresh_run
from handrail.runtime.run_writer import RunWriter


async def refresh(writer: RunWriter, catalog: TrackerCatalog, run: str | None) -> RefreshResult:
    """Look at the pull requests of one run, or at the open ones of all runs."""
    log, now = writer.log, time.time()
    if run is None:
        return await refresh_pull_requests(log, catalog, now, writer.redactor)
    return await refresh_run(log, catalog, now, writer.redactor_for(run), root_of(log, run))


def describe_refresh(found: RefreshResult) -> Iterator[str]:
    """Describe what a look found, a line for each fact and each problem."""
    for news in found.news:
        yield from (f"PR #{news.name.rpartition('#')[2]} of {news.run}: {describe_fact(fact)}" for fact in news.facts)
    yield from (f"not refreshed: {each}" for each in found.problems)
    if not found.news and not found.problems:
        count = found.looked_at
        yield f"nothing new at {count} pull request{'' if count == 1 else 's'}" if count else "no open pull request"

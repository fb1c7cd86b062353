"""Which runs a list shows: first what needs a person, then what is paused, waits, runs, and what ended last.

A list reads only the summaries that it shows, through the indexes of the store.
"""

from typing import TYPE_CHECKING, NamedTuple

from handrail.model.history.run_lines import Filter, Row
from handrail.operations.views.overview import ENDED, NOTICES, OPEN, ORDER, RunRow, RunSummaries, line_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handrail.ports.run_list import RunList

MAX_ENDED = 10
MAX_OPEN = 100
"""The number of runs of one status that are read, unless all are requested."""
PAGE = 20

STATES: dict[str, tuple[str, ...]] = {
    "needs-you": ("blocked", "waiting", "running"),
    "paused": ("waiting", "running"),
    "waiting": ("waiting", "running"),
    "running": ("queued", "running", "waiting"),
    "ended": ENDED,
    **{status: (status,) for status in ENDED},
}
"""The states by which a list can be filtered, each with the statuses that its runs may have in the log."""


class ListingRequest(NamedTuple):
    """Which runs are requested."""

    workflow: str | None = None
    repositories: tuple[str, ...] = ()
    """The checkouts of one repository; empty for all repositories."""
    states: tuple[str, ...] = ()
    """Some of `STATES`; empty for all of them."""
    limit: int | None = None
    before: str | None = None
    """The run before which the requested ones started."""
    every: bool = False


class RunListing(NamedTuple):
    """Lines of runs, and what was left out."""

    lines: list[RunRow]
    """By section, the newest first in each."""
    left_out: int = 0
    older: str = ""
    """The run before which the next page begins, if there is one."""


def list_runs(runs: "RunList", asked: ListingRequest = ListingRequest()) -> RunListing:  # noqa: B008 - a tuple never changes
    """List the runs that people started: all open ones and the newest that ended, or a page of what is requested."""
    if asked.limit is None and (asked.before is None or asked.every):
        return _list_newest(runs, asked)
    return _list_page(runs, asked)


def list_inbox(runs: "RunList") -> list[RunRow]:
    """List every open run, and those that ended with something that a person should know."""
    base = _base(runs, ListingRequest())
    told = dict.fromkeys(row.facts.root or row.key for row in runs.rows(Filter(holding=NOTICES)))
    ended = [row for root in told for row in runs.rows(Filter(key=root, statuses=ENDED))]
    inner = _read_inner_rows(runs)
    found = (*runs.rows(base._replace(statuses=OPEN)), *ended, *_strays(runs, inner, base))
    return _sort_by_section(_select_lines(runs, found, inner, ListingRequest()))


def _list_newest(runs: "RunList", asked: ListingRequest) -> RunListing:
    base, statuses = _base(runs, asked), _statuses(asked)
    most = None if asked.every else MAX_OPEN
    found = [row for each in OPEN if each in statuses for row in runs.rows(base._replace(status=each, limit=most))]
    ended = tuple(each for each in ENDED if each in statuses)
    if ended:
        found += runs.rows(base._replace(statuses=ended, limit=None if asked.every else MAX_ENDED))
    inner = _read_inner_rows(runs)
    lines = _select_lines(runs, (*found, *_strays(runs, inner, base)), inner, asked)
    return RunListing(
        _sort_by_section(lines), 0 if asked.every else runs.count(base._replace(statuses=statuses)) - len(found)
    )


def _list_page(runs: "RunList", asked: ListingRequest) -> RunListing:
    limit = asked.limit or PAGE
    base = _base(runs, asked)
    wanted = base._replace(statuses=_statuses(asked), limit=limit + 1)
    inner = _read_inner_rows(runs)
    strays, lines = _select_lines(runs, _strays(runs, inner, base), inner, asked), list[RunRow]()
    while len(lines) <= limit:
        rows = runs.rows(wanted)
        lines += _select_lines(runs, rows, inner, asked)
        if len(rows) <= limit:
            break
        wanted = wanted._replace(before=(rows[-1].facts.started, rows[-1].key))
    lines = sorted((*lines, *strays), key=lambda line: (line.started_at, line.run), reverse=True)
    older = lines[limit - 1].run if len(lines) > limit else ""
    return RunListing(_sort_by_section(lines[:limit]), 0, older)


def _base(runs: "RunList", asked: ListingRequest) -> Filter:
    rows = () if asked.before is None else runs.rows(Filter(key=asked.before))
    before = (rows[0].facts.started, rows[0].key) if rows else None
    places = asked.repositories
    return Filter(workflow=asked.workflow, repositories=places, top=True, order="started", before=before)


def _statuses(asked: ListingRequest) -> tuple[str, ...]:
    wanted = [status for state in asked.states for status in STATES[state]]
    return tuple(dict.fromkeys(wanted)) or (*OPEN, *ENDED)


def _read_inner_rows(runs: "RunList") -> tuple[Row, ...]:
    return runs.rows(Filter(statuses=OPEN, inner=True, order="started"))


def _strays(runs: "RunList", inner: tuple[Row, ...], base: Filter) -> list[Row]:
    """Return child runs that get their own line, since they continue although the run that started them has ended."""
    around = {row.facts.parent or "" for row in inner} - {row.key for row in inner}
    over = {run for run in around if runs.count(Filter(key=run, statuses=ENDED))}
    return [row for row in inner if row.facts.parent in over and _fits(base, row)]


def _fits(base: Filter, row: Row) -> bool:
    facts = row.facts
    of = base.workflow in (None, facts.workflow) and (not base.repositories or facts.repository in base.repositories)
    return of and (base.before is None or (facts.started, row.key) < base.before)


def _select_lines(
    runs: "RunList", rows: "Iterable[Row]", inner: tuple[Row, ...], asked: ListingRequest
) -> list[RunRow]:
    """Return the lines of runs in a requested state; the state of a run may be that of one inside it."""
    listed = tuple(rows)
    known = RunSummaries(runs, (*inner, *listed))
    lines = [line_of(known, row.key) for row in listed]
    return [line for line in lines if not asked.states or is_in_state(line, asked.states)]


def is_in_state(line: RunRow, states: tuple[str, ...]) -> bool:
    """Return whether a run is in one of the requested states."""
    return line.section.replace(" ", "-") in states or (line.section == "ended" and line.status in states)


def _sort_by_section(lines: list[RunRow]) -> list[RunRow]:
    return sorted(lines, key=lambda line: (ORDER.index(line.section), -line.started_at))

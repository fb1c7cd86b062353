"""`handrail run --ready`: starts a run on every issue that is ready; they take turns in the background."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from handrail.cli.begin.issue_start import desk_of, remote_of
from handrail.cli.begin.run import build_request, open_windows, prepare_run, tell_left_out, tell_pull_requests
from handrail.cli.live.follow_run import continue_detached, watch
from handrail.cli.output import note, write_json
from handrail.cli.render.safe_text import escape_controls
from handrail.frozen import frozen
from handrail.operations.driving.drive import RunClaim
from handrail.operations.issue_runs.issue_record import build_record
from handrail.operations.issue_runs.issue_settings import configured_issues, default_workflow
from handrail.operations.issue_runs.start_on_issue import IssueTaken, limit_ready, ready_places
from handrail.operations.views.run_document import summary_document
from handrail.wiring.session import open_session

if TYPE_CHECKING:
    from handrail.model.issues import Issue
    from handrail.operations.runs.prepare import RunOptions
    from handrail.sources.tiers import Location
    from handrail.wiring.session import Session


@frozen
class ReadyOptions:
    """What a person asked for."""

    options: "RunOptions"
    at_once: int
    labels: tuple[str, ...]
    as_json: bool
    may_ask: bool


def run_ready(place: "Location", wanted: ReadyOptions) -> int:
    """Start a run on each ready issue that nobody else gets first."""
    options = replace(wanted.options, workflow=default_workflow(place, wanted.options.workflow))
    with open_session(place) as session:
        places = ready_places(configured_issues(place).tracker, remote_of(session), session.system.trackers)
        ready = asyncio.run(desk_of(session).list_ready(places, wanted.labels))
        started: list[str] = []
        for each in ready:
            run = _start(session, each, replace(wanted, options=options), is_first=not started)
            started += [run] if run else []
        if wanted.as_json:
            write_json([summary_document(session.log, run) for run in started])
        elif not started:
            click.echo("no issue is ready")
        return 0


def _start(session: "Session", issue: "Issue", wanted: ReadyOptions, *, is_first: bool) -> str:
    """Start a run on an issue and hand it to the background driver; empty if somebody else was first."""
    desk = desk_of(session)
    whole = asyncio.run(desk.read(issue.ref))
    record = build_record(whole, session.machine.redactor())
    own = replace(wanted.options, task=str(record["title"]), issue=record)
    may_ask = wanted.may_ask and not wanted.as_json
    prepared = prepare_run(session.place, own, may_ask=may_ask, is_told=not is_first)
    claim = RunClaim(session.log, "handrail run")
    request = limit_ready(build_request(session, prepared, with_changes=own.with_changes), wanted.at_once)
    try:
        run = asyncio.run(desk.start(whole, request, claim, alone=True))
    except IssueTaken as taken:
        note(escape_controls(taken.message))
        return ""
    if is_first:
        tell_pull_requests(session, run, prepared.pull_requests)
        tell_left_out(() if own.with_changes else prepared.left_out)
    click.echo(f"{run} · {escape_controls(whole.title)}", err=wanted.as_json)
    if own.tmux:
        open_windows(session, run)
    continue_detached(watch(session, run, "handrail run", as_json=False, claim=claim))
    return run

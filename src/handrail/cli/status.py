"""`handrail status`, and the bare command."""

import click

from handrail.cli.options import json_option, optional_run_argument
from handrail.cli.output import write_json


@click.command("status", epilog="Example: handrail status fix-bug-1")
@optional_run_argument
@json_option
def command(*, run: str | None, as_json: bool) -> int:
    """Show what needs you, what runs and what ended; or where one run stands."""
    if as_json:
        _write_documents(run)
    elif run is not None:
        _show_one(run)
    elif show_overview() is None:
        click.echo("no runs yet; handrail run WORKFLOW starts one")
    return 0


def show_overview() -> int | None:
    """Show all runs; None when there are none."""
    from handrail.cli.render_runs import render_overview
    from handrail.cli.session import existing_session
    from handrail.operations.background import differing, who
    from handrail.operations.run_views import overview

    with existing_session() as session:
        lines = overview(session.log) if session is not None else []
        if not lines:
            return None
        click.echo(render_overview(lines))
        driver = who(session.place.folders) if session is not None else None
        if driver is not None:
            others = ", ".join(differing(driver))
            note = f"; commands see the {others} of where it was started, not yours" if others else ""
            click.echo(f"background driver: process {driver.pid}{note}")
        return 0


def _write_documents(run: str | None) -> None:
    from handrail.cli.session import existing_session, run_session
    from handrail.operations.run_views import listed_documents

    if run is not None:
        with run_session() as session:
            write_json({"runs": listed_documents(session.log, session.find(run))})
        return
    with existing_session() as found:
        write_json({"runs": listed_documents(found.log) if found is not None else []})


def _show_one(run: str) -> None:
    from handrail.cli.render_runs import render_overview, render_steps
    from handrail.cli.session import run_session
    from handrail.operations.run_views import one_line, run_document

    with run_session() as session:
        found = session.find(run)
        click.echo(render_overview([one_line(session.log, found)]))
        click.echo(render_steps(run_document(session.log, found)))

"""`handrail status`, and the bare command."""

import os
import shutil
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import json_option, optional_run_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from handrail.operations.views.overview import Line

FIRST_STEPS = (
    ("handrail demo", "see it all in 20 seconds, in a throw-away repository"),
    ("handrail init", "in your repository: finds agent, checks and branch"),
    ("handrail run WORKFLOW", "run one; handrail list shows which there are"),
)


@click.command("status", epilog="Example: handrail status fix-bug-1")
@optional_run_argument
@click.option("--all", "every", is_flag=True, help="Show every run that ended, not only the newest ten.")
@json_option
def command(*, run: str | None, every: bool, as_json: bool) -> int:
    """Show what needs you, what runs and what ended; or where one run stands."""
    if as_json:
        _write_documents(run)
    elif run is not None:
        _show_one(run)
    elif not _show_all(every=every):
        click.echo("no runs yet; handrail run WORKFLOW starts one")
    return 0


def show_overview() -> int:
    """Show all runs, or what to do first where there are none: the bare command."""
    if not _show_all(every=False):
        columns = min(shutil.get_terminal_size().columns, 80)
        formatter = click.HelpFormatter(width=columns)
        formatter.write_dl(FIRST_STEPS, col_max=columns // 2 - 4)
        click.echo(formatter.getvalue().rstrip("\n"))
    return 0


def known_lines() -> "list[Line]":
    """Give a line for each run that a person started."""
    from handrail.operations.views.overview import overview
    from handrail.ports.run_list import NeedsWholeLog
    from handrail.wiring.run_list import has_log, open_run_list

    folder = _data_folder()
    if not has_log(folder):
        return []
    try:
        with open_run_list(folder) as runs:
            return overview(runs)
    except NeedsWholeLog:
        return _lines_of_log()


def _lines_of_log() -> "list[Line]":
    """The same from the log as a whole, which updates an older one, and says what is wrong with a broken one."""
    from handrail.operations.views.overview import overview
    from handrail.operations.views.run_document import LoggedRuns
    from handrail.wiring.session import existing_session

    with existing_session() as session:
        return overview(LoggedRuns(session.log)) if session is not None else []


def _data_folder() -> "Path":
    from handrail.sources.folders import user_folders

    return user_folders(os.environ).data


def _show_all(*, every: bool) -> bool:
    lines = known_lines()
    if lines:
        from handrail.cli.render.runs import render_overview

        click.echo(render_overview(lines, every=every))
        _show_driver()
        _show_unfinished()
    return bool(lines)


def _show_unfinished(run: str | None = None) -> None:
    """Say which changes of a checkout were cut off; mostly there is not even a folder for them."""
    folder = _data_folder()
    if not (folder / "applying").is_dir():
        return
    from handrail.cli.render.safe_text import harmless
    from handrail.wiring.machine import unfinished_applies

    for each in unfinished_applies(folder):
        if run is None or each.run == run:
            click.echo(harmless(each.words))


def _show_driver() -> None:
    from handrail.operations.driving.driver_info import held_logins, running_driver, words_of_held

    driver = running_driver(_data_folder())
    if driver is None:
        return
    from handrail.operations.driving.background_driver import differing
    from handrail.wiring.driver_channel import driver_environments
    from handrail.wiring.machine import this_machine

    machine = this_machine()
    others = ", ".join(differing(driver, machine.programs))
    note = f"; runs whose environment it does not hold see the {others} of where it was started" if others else ""
    held = held_logins(driver_environments(_data_folder()).list_held(), machine.agents.profiles)
    click.echo(f"background driver: process {driver.pid}; {words_of_held(held)}{note}")


def _driver_document() -> "dict[str, Any] | None":
    from handrail.cli.render.runs import driver_data
    from handrail.operations.driving.driver_info import held_logins, running_driver
    from handrail.wiring.driver_channel import driver_environments
    from handrail.wiring.machine import this_machine

    driver = running_driver(_data_folder())
    if driver is None:
        return None
    held = held_logins(driver_environments(_data_folder()).list_held(), this_machine().agents.profiles)
    return driver_data(driver, held)


def _write_documents(run: str | None) -> None:
    from handrail.operations.views.run_document import listed_documents
    from handrail.wiring.session import existing_session, run_session

    if run is not None:
        with run_session() as session:
            write_json({"runs": listed_documents(session.log, session.find(run)), "driver": _driver_document()})
        return
    with existing_session() as found:
        write_json({"runs": listed_documents(found.log) if found is not None else [], "driver": _driver_document()})


def _show_one(run: str) -> None:
    from handrail.cli.render.runs import render_overview, render_steps
    from handrail.cli.render.safe_text import harmless
    from handrail.operations.views.overview import one_line
    from handrail.operations.views.run_document import LoggedRuns, run_document
    from handrail.wiring.session import run_session

    with run_session() as session:
        found = session.find(run)
        click.echo(render_overview([one_line(LoggedRuns(session.log), found)]))
        document = run_document(session.log, found)
        if document.get("message"):
            click.echo(harmless(f"says: {document['message']}"))
        click.echo(render_steps(document))
    _show_unfinished(found)

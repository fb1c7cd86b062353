"""`handrail status`, and the bare command."""

import os
import shutil
from typing import TYPE_CHECKING, Any, TypeVar

import click

from handrail.cli.options import complete_runs, complete_workflows, json_option, optional_run_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from handrail.operations.views.overview import RunRow
    from handrail.operations.views.run_listing import ListingRequest, RunListing
    from handrail.ports.run_list import RunList
    from handrail.wiring.session import Session

FIRST_STEPS = (
    ("handrail demo", "see how it works in 20 seconds, in a temporary repository"),
    ("handrail init", "in your repository: detect agent, checks and branch"),
    ("handrail run WORKFLOW", "run a workflow; handrail list shows them all"),
)


Found = TypeVar("Found")
POLL_FILE = "issues.due"
"""The file of the data folder whose time says when issues and pull requests are looked at next."""
STATES = ("needs-you", "paused", "waiting", "running", "ended", "succeeded", "failed", "cancelled")


@click.command("status", epilog="Example: handrail status --here --status failed -n 20")
@optional_run_argument
@click.option("--here", is_flag=True, help="Only runs of the repository that the current folder is in.")
@click.option("--workflow", metavar="NAME", shell_complete=complete_workflows, help="Only runs of this workflow.")
@click.option(
    "--status",
    "states",
    multiple=True,
    type=click.Choice(STATES),
    metavar="STATE",
    help=f"Only runs in this state; may be repeated: {', '.join(STATES)}.",
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most this many runs, the newest first.")
@click.option("--before", metavar="RUN", shell_complete=complete_runs, help="Only runs that started before this one.")
@click.option("--refresh", is_flag=True, help="First look at issues and pull requests, and take up what is new.")
@click.option("--all", "every", is_flag=True, help="Show every run, not only the ten that ended last.")
@json_option
def command(*, run: str | None, as_json: bool, refresh: bool, **wanted: Any) -> int:
    """Show which runs need you, are running or have ended; or the state of one run."""
    if refresh:
        from handrail.cli.look.refresh import look_outside

        look_outside(run, quiet=as_json)
    if run is not None and any(wanted.values()):
        from handrail.errors import UsageError

        raise UsageError("filters apply to the list of runs, not to a single run", next_step=f"handrail status {run}")
    if as_json:
        _write_documents(run, wanted)
    elif run is not None:
        _show_one(run)
    elif not _show_all(wanted):
        asked = any(wanted.get(name) for name in ("here", "workflow", "states", "before"))
        click.echo(
            "no run matches; handrail status shows all" if asked else "no runs yet; handrail run WORKFLOW starts one"
        )
    return 0


def show_overview() -> int:
    """Show all runs, or the first steps if there are none: the bare command."""
    if not _show_all({}):
        columns = min(shutil.get_terminal_size().columns, 80)
        formatter = click.HelpFormatter(width=columns)
        formatter.write_dl(FIRST_STEPS, col_max=columns // 2 - 4)
        click.echo(formatter.getvalue().rstrip("\n"))
    return 0


def list_inbox_lines() -> "list[RunRow]":
    """List a line for each open run, and for each that ended with something to know."""
    from handrail.operations.views.run_listing import list_inbox

    return _read_list(list_inbox) or []


def _read_list(read: "Callable[[RunList], Found]") -> "Found | None":
    """Read the list of runs without the rest of the log; return None if nothing was recorded yet."""
    from handrail.ports.run_list import NeedsWholeLog
    from handrail.wiring.run_list import has_log, open_run_list

    folder = _data_folder()
    if not has_log(folder):
        return None
    try:
        with open_run_list(folder) as runs:
            return read(runs)
    except NeedsWholeLog:
        return _read_log(read)


def _read_log(read: "Callable[[RunList], Found]") -> "Found | None":
    """Read the list through the whole log, which updates an older one and reports what is wrong with a broken one."""
    from handrail.operations.views.run_document import LoggedRuns
    from handrail.wiring.session import open_existing_session

    with open_existing_session() as session:
        return None if session is None else read(LoggedRuns(session.log))


def _build_query(wanted: dict[str, Any], runs: "RunList") -> "ListingRequest":
    """Convert the options into a query of the list; `--before` accepts a run as every command does."""
    from handrail.operations.views.run_listing import ListingRequest

    if not wanted:
        return ListingRequest()
    before = _find_before(wanted["before"], runs) if wanted["before"] else None
    states = tuple(wanted["states"])
    return ListingRequest(wanted["workflow"], _repositories(wanted), states, wanted["limit"], before, wanted["every"])


def _find_before(words: str, runs: "RunList") -> str:
    from handrail.model.history.run_lines import Filter

    if runs.count(Filter(key=words)):
        return words
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        return session.find(words)


def _repositories(wanted: dict[str, Any]) -> tuple[str, ...]:
    """List the checkouts of the repository that contains the current folder: linked worktrees share one repository."""
    if not wanted["here"]:
        return ()
    from pathlib import Path

    from handrail.wiring.machine import this_machine

    return tuple(map(str, this_machine().repositories.list_checkouts(Path.cwd())))


def _data_folder() -> "Path":
    from handrail.sources.folders import user_folders

    return user_folders(os.environ).data


def _show_all(wanted: dict[str, Any]) -> bool:
    from handrail.operations.views.run_listing import RunListing, list_runs

    listing = _read_list(lambda runs: list_runs(runs, _build_query(wanted, runs))) or RunListing([])
    if listing.lines:
        from handrail.cli.render.runs import render_overview

        click.echo(render_overview(listing.lines, _more_words(listing, wanted)))
        _show_driver()
        _show_unfinished()
    return bool(listing.lines)


def _more_words(listing: "RunListing", wanted: dict[str, Any]) -> str:
    filters = _filters(wanted)
    if listing.older:
        count = wanted["limit"] or len(listing.lines)
        return f"older: handrail status{filters} -n {count} --before {listing.older}"
    return f"and {listing.left_out} more: handrail status{filters} --all" if listing.left_out > 0 else ""


def _filters(wanted: dict[str, Any]) -> str:
    """Format the filters that the command was called with, each after a space."""
    from shlex import quote

    words = ["--here"] if wanted.get("here") else []
    words += [f"--workflow {quote(wanted['workflow'])}"] if wanted.get("workflow") else []
    words += [f"--status {state}" for state in wanted.get("states", ())]
    return "".join(f" {word}" for word in words)


def _show_unfinished(run: str | None = None) -> None:
    """Report which changes of a checkout were cut off; mostly there is not even a folder for them."""
    folder = _data_folder()
    if not (folder / "applying").is_dir():
        return
    from handrail.cli.render.safe_text import escape_controls
    from handrail.wiring.machine import list_unfinished_applies

    for each in list_unfinished_applies(folder):
        if run is None or each.run == run:
            click.echo(escape_controls(each.words))


def _show_driver() -> None:
    from handrail.operations.driving.driver_info import describe_environments, find_running_driver, list_logins

    driver = find_running_driver(_data_folder())
    if driver is None:
        _show_sleeping_poll()
        return
    from handrail.operations.driving.background_driver import list_environment_differences
    from handrail.wiring.driver_channel import driver_environments
    from handrail.wiring.machine import this_machine

    machine = this_machine()
    others = ", ".join(list_environment_differences(driver, machine.programs))
    note = f"; runs whose environment it does not hold use the {others} from where it was started" if others else ""
    held = list_logins(driver_environments(_data_folder()).list_held(), machine.agents.profiles)
    click.echo(f"background driver: process {driver.pid}; {describe_environments(held)}{note}")


def _show_sleeping_poll() -> None:
    """Tell that nobody looks for answers to open questions."""
    if (_data_folder() / POLL_FILE).exists():
        click.echo("nobody looks at issues and pull requests while no driver runs; handrail status --refresh looks now")


def _driver_document() -> "dict[str, Any] | None":
    from handrail.cli.render.runs import driver_data
    from handrail.operations.driving.driver_info import find_running_driver, list_logins
    from handrail.wiring.driver_channel import driver_environments
    from handrail.wiring.machine import this_machine

    driver = find_running_driver(_data_folder())
    if driver is None:
        return None
    held = list_logins(driver_environments(_data_folder()).list_held(), this_machine().agents.profiles)
    return driver_data(driver, held)


def _write_documents(run: str | None, wanted: dict[str, Any]) -> None:
    from handrail.operations.views.run_document import LoggedRuns
    from handrail.operations.views.run_listing import list_runs
    from handrail.wiring.session import open_existing_session, open_run_session

    if run is not None:
        with open_run_session() as session:
            write_json({"runs": _documents(session, [session.find(run)]), "driver": _driver_document()})
        return
    with open_existing_session() as found:
        if found is None:
            write_json({"runs": [], "cut": False, "older": None, "driver": _driver_document()})
            return
        runs = LoggedRuns(found.log)
        # Programs get everything that matches, unless they say how much they want.
        listing = list_runs(runs, _build_query(wanted, runs)._replace(every=True))
        lines = sorted(listing.lines, key=lambda line: -line.started_at)
        documents = _documents(found, [line.run for line in lines])
    older = listing.older or None
    write_json({"runs": documents, "cut": older is not None, "older": older, "driver": _driver_document()})


def _documents(session: "Session", runs: "list[str]") -> "list[dict[str, Any]]":
    from handrail.operations.views.attach import open_sessions
    from handrail.operations.views.pull_requests import list_pull_request_entries
    from handrail.operations.views.run_document import summary_document

    sessions = open_sessions(session.machine, session.system.folder / "runs")
    documents: list[dict[str, Any]] = [summary_document(session.log, run) for run in runs]
    return [
        {
            **each,
            "tmux_session": each["root"] if each["root"] in sessions else None,
            "pull_requests": list_pull_request_entries(session.log, each["root"] or each["run"]),
        }
        for each in documents
    ]


def _show_one(run: str) -> None:
    from handrail.cli.render.runs import render_overview, render_steps
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.views.overview import line_for_run
    from handrail.operations.views.pull_requests import describe_pull_request, find_pull_requests
    from handrail.operations.views.run_document import LoggedRuns, run_document
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        click.echo(render_overview([line_for_run(LoggedRuns(session.log), found)]))
        document = run_document(session.log, found)
        if document.get("issue"):
            click.echo(escape_controls(f"issue: {document['issue']}"))
        if document.get("message"):
            click.echo(escape_controls(f"says: {document['message']}"))
        for each in find_pull_requests(session.log, found):
            click.echo(escape_controls(f"PR {describe_pull_request(each)}"))
        click.echo(render_steps(document))
    _show_unfinished(found)

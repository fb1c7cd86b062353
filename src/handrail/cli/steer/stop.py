"""`handrail stop`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.wiring.session import Session


@click.command("stop", epilog="Example: handrail stop fix-bug-1")
@run_argument
@click.option("-m", "--message", "why", metavar="TEXT", default="", help="Why you stop it.")
@json_option
def command(*, run: str, why: str, as_json: bool) -> int:
    """Stop a run for good, and everything it started. To continue later, pause it with Ctrl-C instead."""
    from handrail.cli.live.follow_run import process_inbox, watch
    from handrail.operations.driving.resume import stop_family
    from handrail.operations.driving.stop_damaged import stop_damaged
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found, by = session.find(run), str(current_actor())
        damaged = stop_damaged(session.writer, session.machine.processes, session.system.folder, found, by)
        if found in damaged:
            return _report(session, found, as_json=as_json)
        watched = watch(session, found, "handrail stop", as_json=as_json)
        stop_family(session.writer, found, by, why)
        process_inbox(watched)
        watched.report()
        return 0


def _report(session: "Session", run: str, *, as_json: bool) -> int:
    """Report the state of a run that cannot be read."""
    from handrail.operations.views.run_document import summary_document

    if as_json:
        write_json(summary_document(session.log, run))
    else:
        click.echo(f"{run} was stopped for good; its history cannot be read, and its files are as they were")
        click.echo(f"next: handrail discard {run}, which keeps a backup ref of its files")
    return 0

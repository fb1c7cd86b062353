"""`handrail inbox`."""

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json


@click.command("inbox", epilog="Example: handrail inbox")
@json_option
def command(*, as_json: bool) -> None:
    """Show what needs you, with the command that answers it."""
    from handrail.cli.render_runs import render_overview
    from handrail.cli.session import existing_session
    from handrail.operations.run_views import overview

    with existing_session() as session:
        lines = overview(session.log) if session is not None else []
    needed = [line for line in lines if line.section == "needs you"]
    if as_json:
        items = [{"run": each.run, "step": each.step, "says": each.words, "next": each.next_step} for each in needed]
        write_json({"inbox": items})
    else:
        click.echo(render_overview(needed) if needed else "nothing needs you")

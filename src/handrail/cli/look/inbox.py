"""`handrail inbox`."""

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json

WAITS_FOR_ME = ("needs you", "paused")


@click.command("inbox", epilog="Example: handrail inbox")
@json_option
def command(*, as_json: bool) -> None:
    """Show what needs you, with the command that answers it."""
    from handrail.cli.look.status import known_lines

    needed = [line for line in known_lines() if line.section in WAITS_FOR_ME]
    if as_json:
        items = [{"run": each.run, "step": each.step, "says": each.words, "next": each.next_step} for each in needed]
        write_json({"inbox": items})
        return
    if not needed:
        click.echo("nothing needs you")
        return
    from handrail.cli.render.runs import render_overview

    click.echo(render_overview(needed))

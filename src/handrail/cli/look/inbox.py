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

    lines = known_lines()
    needed = [line for line in lines if line.section in WAITS_FOR_ME]
    others = [line for line in lines if line.notice and line not in needed]
    if as_json:
        items = [{"run": each.run, "step": each.step, "says": each.words, "next": each.next_step} for each in needed]
        notices = [{"run": each.run, "says": each.notice} for each in lines if each.notice]
        write_json({"inbox": items, "notices": notices})
        return
    from handrail.cli.render.runs import render_notices, render_overview

    shown = [render_overview(needed) if needed else "nothing needs you", *render_notices(others)]
    click.echo("\n".join(shown))

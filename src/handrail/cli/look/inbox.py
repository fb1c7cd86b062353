"""`handrail inbox`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.views.overview import RunRow

WAITS_FOR_ME = ("needs you", "paused")


@click.command("inbox", epilog="Example: handrail inbox")
@json_option
def command(*, as_json: bool) -> None:
    """Show what needs you, with the command that answers it."""
    from handrail.cli.look.status import list_inbox_lines

    lines = list_inbox_lines()
    needed = [line for line in lines if line.section in WAITS_FOR_ME]
    others = [line for line in lines if line.notice and line not in needed]
    if as_json:
        items = _items(needed)
        notices = [{"run": each.run, "says": each.notice} for each in lines if each.notice]
        write_json({"inbox": items, "notices": notices})
        return
    from handrail.cli.render.runs import render_notices, render_overview

    shown = [render_overview(needed) if needed else "nothing needs you", *render_notices(others)]
    click.echo("\n".join(shown))


def _items(needed: "list[RunRow]") -> list[dict[str, Any]]:
    """List each run that needs a person; an approval comes with its message and the values that it shows."""
    asked = _approvals([each.run for each in needed])
    said = [{"run": each.run, "step": each.step, "says": each.words, "next": each.next_step} for each in needed]
    return [{**each, "approval": asked.get(each["run"])} for each in said]


def _approvals(runs: list[str]) -> dict[str, Any]:
    from handrail.operations.views.questions import find_question
    from handrail.operations.views.run_document import approval_data
    from handrail.wiring.session import open_existing_session

    if not runs:
        return {}
    with open_existing_session() as session:
        if session is None:
            return {}
        found = {run: find_question(session.log, run) for run in runs}
        return {run: approval_data(session.log, asks[0]) for run, asks in found.items() if asks is not None}

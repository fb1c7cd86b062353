"""`handrail logs`."""

import json
from typing import TYPE_CHECKING

import click

from handrail.cli.options import run_argument, step_argument
from handrail.cli.render.safe_text import crop, harmless

if TYPE_CHECKING:
    from handrail.model.history.events import Event

WIDTH = 110
"""Columns for the fields of an event that has no words of its own."""


@click.command("logs", epilog="Example: handrail logs fix-bug-1 --json | jq .kind")
@run_argument
@step_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document per line, one for each event.")
def command(*, run: str, step: str | None, as_json: bool) -> None:
    """Show everything that happened in a run, or to one step of it, event by event."""
    from handrail.operations.views.history import event_data, history
    from handrail.wiring.session import run_session

    with run_session() as session:
        for seq, address, event in history(session.log, session.find(run), step):
            if as_json:
                click.echo(json.dumps(event_data(seq, event)))
            else:
                click.echo(harmless(_line(seq, address, event)))


def _line(seq: int, address: str, event: "Event") -> str:
    from handrail.operations.views.event_sentences import told
    from handrail.operations.views.run_document import iso

    said = told(event)
    words = (
        crop(harmless(_fields(seq, event)), WIDTH)
        if said is None
        else "  ".join(part for part in (address, said) if part)
    )
    return f"{seq:>4}  {iso(event.at)}  {event.kind:<18}  {words}"


def _fields(seq: int, event: "Event") -> str:
    from handrail.operations.views.history import event_data

    hidden = ("seq", "kind", "time", "at")
    shown = {key: value for key, value in event_data(seq, event).items() if key not in hidden}
    return "  ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in shown.items())

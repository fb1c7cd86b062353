"""`handrail logs`."""

import json

import click

from handrail.cli.options import run_argument
from handrail.cli.safe_text import crop, harmless

WIDTH = 160


@click.command("logs", epilog="Example: handrail logs fix-bug-1 --json | jq .kind")
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document per line, one for each event.")
def command(*, run: str, as_json: bool) -> None:
    """Show everything that happened in a run, event by event."""
    from handrail.cli.session import run_session
    from handrail.operations.histories import history

    with run_session() as session:
        for event in history(session.log, session.find(run)):
            if as_json:
                click.echo(json.dumps(event))
                continue
            shown = {key: value for key, value in event.items() if key not in ("seq", "kind", "time", "at")}
            fields = "  ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in shown.items())
            click.echo(crop(harmless(f"{event['seq']:>4}  {event['time']}  {event['kind']:<18}  {fields}"), WIDTH))

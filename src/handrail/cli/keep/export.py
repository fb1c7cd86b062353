"""`handrail export`."""

import json
from typing import BinaryIO

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import note


@click.command("export", epilog="Example: handrail export fix-bug-1 -o fix-bug-1.json")
@run_argument
@click.option("-o", "--output", "to", type=click.File("wb", lazy=True), default="-", help="Write to FILE.")
@json_option
def command(*, run: str, to: BinaryIO, as_json: bool) -> None:
    """Write a run with its children and everything they name into one file, for `handrail import-run`.

    It contains inputs, commands and outputs as they were: review it before you share it.
    """
    from handrail.operations.delivery.export_import import export
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        bundle = export(session.log, found)
        lost = [each["run"] for each in bundle["streams"] if len(each["events"]) < session.log.last(each["run"]).seq]
    to.write(json.dumps(bundle, indent=None if as_json else 1).encode() + b"\n")
    note(f"{found}: {sum(len(each['events']) for each in bundle['streams'])} events")
    for each in lost:
        note(f"{each} is damaged: only the events before the damage were exported")

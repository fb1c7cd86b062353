"""`handrail fork`."""

import click

from handrail.cli.options import json_option, run_argument, step_argument
from handrail.cli.output import write_json


@click.command("fork", epilog="Example: handrail fork fix-bug-1 fix -n 2")
@run_argument
@step_argument
@click.option("-n", "copies", type=click.IntRange(1, 20), default=1, metavar="N", help="How many copies; default 1.")
@json_option
def command(*, run: str, step: str | None, copies: int, as_json: bool) -> None:
    """Copy a run, as it is or as it was before a step; the original is untouched. `resume` continues a copy."""
    from handrail.operations.runs.lifecycle import fork
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found = session.find(run)
        made = [fork(session.writer, found, step, str(current_actor())) for _ in range(copies)]
    if as_json:
        write_json({"run": found, "copies": made})
        return
    for each in made:
        click.echo(f"{each} is a copy of {found}   next: handrail resume {each}")

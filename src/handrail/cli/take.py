"""`handrail take`."""

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json


@click.command("take", epilog="Example: handrail take fix-bug-1")
@run_argument
@json_option
def command(*, run: str, as_json: bool) -> None:
    """Take a run out of Handrail's hands: steps are then completed from outside, until you release it."""
    from handrail.cli.session import me, run_session
    from handrail.cli.watching import take_up, watch
    from handrail.operations.run_views import run_document
    from handrail.operations.runs import take

    with run_session() as session:
        found = session.find(run)
        take(session.log, found, me())
        take_up(watch(session, found, "handrail take", as_json=as_json))
        if as_json:
            write_json(run_document(session.log, found))
        else:
            click.echo(f"{found} is yours   next: handrail release {found}")

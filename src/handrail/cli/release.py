"""`handrail release`."""

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json


@click.command("release", epilog="Example: handrail release fix-bug-1")
@run_argument
@json_option
def command(*, run: str, as_json: bool) -> None:
    """Give a run back to Handrail; `handrail resume` lets it go on here."""
    from handrail.cli.session import me, run_session
    from handrail.cli.watching import take_up, watch
    from handrail.operations.going_on import release_family
    from handrail.operations.run_views import run_document

    with run_session() as session:
        found = session.find(run)
        release_family(session.log, found, me())
        take_up(watch(session, found, "handrail release", as_json=as_json))
        if as_json:
            write_json(run_document(session.log, found))
        else:
            click.echo(f"{found} is Handrail's again   next: handrail resume {found}")

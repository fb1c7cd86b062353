"""`handrail import-run`."""

from typing import BinaryIO

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json


@click.command("import-run", epilog="Example: handrail import-run fix-bug-1.json")
@click.argument("file", type=click.File("rb"))
@json_option
def command(*, file: BinaryIO, as_json: bool) -> None:
    """Import a run that was exported, under a new id if its id is already in use.

    It is held: its commands run only after `handrail release`, in a new worktree. Folders and branches that it had
    elsewhere are not touched, whatever they are called.
    """
    import time

    from handrail.operations.delivery.export_import import ImportContext, ids_in_use, import_run
    from handrail.wiring.session import current_actor, open_session

    data = file.read()
    with open_session() as session:
        is_taken = ids_in_use(session.system.folder, session.system.workspaces)
        done = import_run(session.log, data, ImportContext(by=str(current_actor()), at=time.time(), is_taken=is_taken))
    if as_json:
        write_json({"run": done.run, "original": done.original, "events": done.events, "held": done.held})
        return
    named = "" if done.run == done.original else f" (originally {done.original})"
    click.echo(f"{done.run}{named}: {done.events} events")
    click.echo(f"next: handrail {'release' if done.held else 'show'} {done.run}")

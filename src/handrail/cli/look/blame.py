"""`handrail blame`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.blame.owners import BlameAnswer, BlameRequest

_LINES = re.compile(r"(.+):(\d+)(?:-(\d+))?")


@click.command("blame", epilog="Example: handrail blame src/app.py:12")
@click.argument("file", metavar="FILE[:LINE]")
@click.option("--rev", "revision", metavar="REV", default="", help="Show the file as it is in a commit or branch.")
@json_option
def command(*, file: str, revision: str, as_json: bool) -> None:
    """Show for each line of a file which step of which run wrote it, or which person.

    FILE:12 is one line, FILE:12-20 are several. A step is shown with its agent, the version of its prompt and its cost.
    """
    from handrail.cli.render.blame import blame_data, render_blame

    found = _find_owners(_parse(file, revision))
    if as_json:
        write_json(blame_data(found))
    elif found.lines:
        click.echo(render_blame(found))
    else:
        note(f"{found.path} is empty")


def _parse(file: str, revision: str) -> "BlameRequest":
    from shlex import quote

    from handrail.errors import UsageError
    from handrail.operations.blame.owners import BlameRequest

    found = None if Path(file).is_file() else _LINES.fullmatch(file)
    if found is None:
        return BlameRequest(file=Path(file), revision=revision)
    first = int(found[2])
    last = int(found[3] or first)
    if not 1 <= first <= last:
        message = f"{found[2]}{f'-{found[3]}' if found[3] else ''} are not lines of a file: they count from 1 upwards"
        raise UsageError(message, next_step=f"handrail blame {quote(found[1])}")
    return BlameRequest(file=Path(found[1]), revision=revision, first=first, last=last)


def _find_owners(asked: "BlameRequest") -> "BlameAnswer":
    from handrail.operations.blame.owners import find_owners
    from handrail.wiring.line_history import make_line_history
    from handrail.wiring.machine import this_machine
    from handrail.wiring.session import open_existing_session

    with open_existing_session() as session:
        log = None if session is None else session.log
        return find_owners(make_line_history(), log, this_machine().redactor(), asked)

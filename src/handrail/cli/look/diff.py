"""`handrail diff`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, run_argument, step_argument
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.views.diff import Difference


@click.command("diff", epilog="Example: handrail diff fix-bug-1 fix --stat")
@run_argument
@step_argument
@click.option("--stat", is_flag=True, help="Only count the lines of each file.")
@json_option
def command(*, run: str, step: str | None, stat: bool, as_json: bool) -> None:
    """Show what a run has changed since it started, or what one step changed.

    STEP is an address: fix, fix@2 for its second start, build[auth] for an item, build[auth]/test inside it.
    """
    from handrail.cli.render.diff import echo_patch
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.differences.compare(session.find(run), step, stat=stat)
    if found.remark:
        note(found.remark)
    if as_json:
        write_json(_data(found, stat=stat))
        return
    if not found.files:
        what = f"'{found.step}' of {found.run}" if found.step else found.run
        note(f"{what} changed no files" + (f"; its items did: {', '.join(found.items)}" if found.items else ""))
    echo_patch(found.text)


def _data(found: "Difference", *, stat: bool) -> dict[str, object]:
    from handrail.cli.render.diff import file_data

    base = {"run": found.run, "step": found.step or None, "since": found.span.since, "until": found.span.until}
    files = [file_data(each) for each in found.files]
    return {**base, "files": files, "items": list(found.items), **({} if stat else {"diff": found.text})}

"""`handrail apply`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, optional_run_argument
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.delivery.deliver import ApplyResult


@click.command("apply", epilog="Example: handrail apply fix-bug-1")
@optional_run_argument
@click.option("--undo", is_flag=True, help="Undo the last apply.")
@click.option(
    "--accept-git-changes", is_flag=True, help="Continue even if git settings that start programs have changed."
)
@json_option
def command(*, run: str | None, undo: bool, accept_git_changes: bool, as_json: bool) -> None:
    """Bring what a run changed into your checkout as uncommitted changes, all of it or nothing.

    Files that you are editing are never overwritten.
    """
    from pathlib import Path

    from handrail.errors import UsageError
    from handrail.operations.delivery.deliver import apply, undo_apply
    from handrail.wiring.session import open_run_session

    if run is None and not undo:
        raise UsageError("which run?", next_step="handrail apply RUN, or handrail apply --undo")
    with open_run_session() as session:
        found = None if run is None else session.find(run)
        workspaces = session.system.workspaces
        if undo or found is None:
            done = undo_apply(session.log, workspaces, found, session.machine.repositories.find_root(Path.cwd()))
        else:
            done = apply(session.log, workspaces, found, accept_git_changes=accept_git_changes)
    if as_json:
        write_json({"run": done.run, "checkout": done.checkout, "files": list(done.files), "undone": undo})
    else:
        _say(done, undo=undo)


def _say(done: "ApplyResult", *, undo: bool) -> None:
    count = "1 file" if len(done.files) == 1 else f"{len(done.files)} files"
    if undo:
        click.echo(f"Undid the changes of {done.run}: {count} restored in your checkout.")
    elif not done.files:
        click.echo(f"Nothing to apply: your checkout already has the changes of {done.run}, or there are none.")
    else:
        click.echo(
            f"Applied {count} to your checkout as uncommitted changes. Undo: git stash, or handrail apply --undo"
        )
        if done.unfinished:
            note(f"{done.run} has not ended: these are its changes so far")

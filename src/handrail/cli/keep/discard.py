"""`handrail discard`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.delivery.deliver import DiscardResult
    from handrail.wiring.session import Session


@click.command("discard", epilog="Example: handrail discard fix-bug-1")
@run_argument
@click.option(
    "--set-aside", is_flag=True, help="Leave the files in a plain folder; for a repository that no longer exists."
)
@json_option
def command(*, run: str, set_aside: bool, as_json: bool) -> None:
    """Remove a run's worktree and branch, and those of its items. A backup ref of everything is kept.

    A run that has not ended is stopped for good, but only after its work can be backed up. An imported run that was
    never released has no worktree: it is only stopped.
    """
    from handrail.operations.delivery import deliver
    from handrail.wiring.session import open_run_session

    folders: tuple[str, ...] = ()
    done: tuple[DiscardResult, ...] = ()
    with open_run_session() as session:
        found, workspaces = session.find(run), session.system.workspaces
        owns = set_aside or deliver.require_discardable(session.log, workspaces, found)
        _stop(session, found)
        if set_aside:
            folders = deliver.set_aside(session.log, workspaces, found)
        elif owns:
            done = deliver.discard(session.log, workspaces, session.machine.repositories, found)
    if as_json:
        write_json({"run": found, "discarded": [_data(each) for each in done], "set_aside": list(folders)})
        return
    for each in done:
        click.echo(f"Discarded the worktree of {each.run} and its branch {each.branch}. Kept under {each.ref}")
        back = f", or its commits: git branch {each.branch} {each.commit[:12]}" if each.commit else ""
        click.echo(f"  Get it back: handrail apply {each.run}{back}")
    for folder in folders:
        click.echo(f"Gave up the worktree of {found}. Its files are in {folder}")
    if not owns:
        click.echo(f"{found} was imported and has no worktree here: nothing was removed")


def _stop(session: "Session", run: str) -> None:
    """Stop the run for good: once its files are gone, it can never continue."""
    from handrail.cli.live.follow_run import process_inbox, watch
    from handrail.operations.driving.resume import stop_family
    from handrail.operations.driving.stop_damaged import stop_damaged
    from handrail.operations.views.run_document import readable_state
    from handrail.operations.views.run_tree import refuse_if_driven
    from handrail.wiring.session import current_actor

    refuse_if_driven(session.log, run)
    state, by = readable_state(session.log, run), str(current_actor())
    damaged = stop_damaged(session.writer, session.machine.processes, session.system.folder, run, by)
    if not state.is_over and run not in damaged:
        stop_family(session.writer, run, by)
        process_inbox(watch(session, run, "handrail discard", as_json=True))
        note(f"{run} was stopped for good")


def _data(done: "DiscardResult") -> dict[str, str]:
    return {"run": done.run, "branch": done.branch, "commit": done.commit, "ref": done.ref}

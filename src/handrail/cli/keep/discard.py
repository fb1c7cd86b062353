"""`handrail discard`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.delivery.deliver import Discarded
    from handrail.wiring.session import Session


@click.command("discard", epilog="Example: handrail discard fix-bug-1")
@run_argument
@json_option
def command(*, run: str, as_json: bool) -> None:
    """Remove a run's work tree and branch, and those of its items. Everything is kept under a ref first.

    A run that is not over is stopped for good.
    """
    from handrail.operations.delivery.deliver import discard
    from handrail.wiring.session import run_session

    with run_session() as session:
        found = session.find(run)
        _stop(session, found)
        done = discard(session.log, session.system.workspaces, session.machine.repositories, found)
    if as_json:
        write_json({"run": found, "discarded": [_data(each) for each in done]})
        return
    for each in done:
        click.echo(f"Discarded the work tree of {each.run} and its branch {each.branch}. Kept under {each.ref}")
        back = f", or its commits: git branch {each.branch} {each.commit[:12]}" if each.commit else ""
        click.echo(f"  Get it back: handrail apply {each.run}{back}")


def _stop(session: "Session", run: str) -> None:
    """A run whose files are gone can never go on."""
    from handrail.cli.live.follow_run import refuse_if_driven, take_up, watch
    from handrail.operations.driving.resume import stop_family
    from handrail.operations.views.diff import tree_of
    from handrail.operations.views.run_state import state_of
    from handrail.wiring.session import current_user

    state = state_of(session.log, run)
    tree_of(state)
    refuse_if_driven(session, run)
    if not state.over:
        stop_family(session.writer, run, current_user())
        take_up(watch(session, run, "handrail discard", as_json=True))
        note(f"{run} was stopped for good")


def _data(done: "Discarded") -> dict[str, str]:
    return {"run": done.run, "branch": done.branch, "commit": done.commit, "ref": done.ref}

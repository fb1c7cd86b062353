"""`handrail release`."""

import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.options import detach_option, json_option, run_argument

if TYPE_CHECKING:
    from handrail.operations.delivery.release import ReleaseQuestion
    from handrail.wiring.session import Session


@click.command("release", epilog="Example: handrail release fix-bug-1")
@run_argument
@click.option("--show", is_flag=True, help="Only show what an imported run would run.")
@click.option("--yes", is_flag=True, help="Release an imported run without asking.")
@detach_option
@json_option
def command(*, run: str, show: bool, yes: bool, detach: bool, as_json: bool) -> int:
    """Return a run to Handrail, which continues it here and calls its own agents for the rest.

    An imported run gets its own worktree, created from the repository that you are in. You are first shown what it
    will run, and asked.
    """
    from handrail.cli.live.follow_run import continue_detached, continue_run, watch
    from handrail.cli.output import note
    from handrail.operations.delivery.release import is_imported
    from handrail.operations.driving.resume import release_family
    from handrail.wiring.session import current_actor, open_run_session

    if show and yes:
        raise click.UsageError("--show and --yes cannot be used together", click.get_current_context())
    with open_run_session() as session:
        found = session.find(run)
        watched = watch(session, found, "handrail release", as_json=as_json)
        if is_imported(session.log, found):
            if not _release_imported(session, found, show=show, yes=yes, as_json=as_json):
                return 0
        else:
            release_family(session.writer, found, str(current_actor()))
        note(f"Handrail is running {found} again")
        return continue_detached(watched) if detach else continue_run(watched)


def _release_imported(session: "Session", run: str, *, show: bool, yes: bool, as_json: bool) -> bool:
    """Show what an imported run would execute, and release it if a person agrees."""
    from handrail.cli.output import write_json
    from handrail.cli.render.release import release_data, render_release
    from handrail.operations.delivery.release import examine_release, release_imported
    from handrail.wiring.session import current_actor

    question = examine_release(session.log, session.machine, session.place, run)
    if show and as_json:
        write_json(release_data(question))
    else:
        click.echo(render_release(question), err=as_json)
    if show:
        return False
    _ask(question, yes=yes, may_ask=not as_json)
    release_imported(session.writer, question, str(current_actor()))
    return True


def _ask(question: "ReleaseQuestion", *, yes: bool, may_ask: bool) -> None:
    from handrail.errors import Untrusted

    if yes or (may_ask and sys.stdin.isatty() and click.confirm("Let it run?", err=True)):
        return
    message = f"{question.run} was imported, and needs your consent before it runs"
    raise Untrusted(message, next_step=f"handrail release {question.run} --yes")

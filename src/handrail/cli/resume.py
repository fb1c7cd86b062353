"""`handrail resume`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import detach_option, json_option, optional_run_argument

if TYPE_CHECKING:
    from handrail.cli.session import Session


@click.command("resume", epilog="Example: handrail resume fix-bug-1")
@optional_run_argument
@detach_option
@json_option
def command(*, run: str | None, detach: bool, as_json: bool) -> int:
    """Let a run go on that is paused, blocked, failed or interrupted; what is done is not repeated.

    Without RUN it is the only one that can go on.
    """
    from handrail.cli.output import note
    from handrail.cli.session import me, run_session
    from handrail.cli.watching import go_on_detached, refuse_if_driven, watch
    from handrail.operations.going_on import done_words, resume_family

    with run_session() as session:
        found = session.find(run) if run is not None else _only(session)
        refuse_if_driven(session, found)
        watched = watch(session, found, "handrail resume", as_json=as_json)
        said = done_words(session.log, found)
        resume_family(session.log, found, me())
        note(said)
        return go_on_detached(watched) if detach else watched.go()


def _only(session: "Session") -> str:
    from handrail.errors import NotFound, UsageError
    from handrail.operations.going_on import resumable

    found = resumable(session.log)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound("no run waits to be resumed", next_step="handrail status")
    raise UsageError(f"{len(found)} runs can go on: {', '.join(found[:8])}", next_step=f"handrail resume {found[0]}")

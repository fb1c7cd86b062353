"""`handrail resume`."""

import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.options import detach_option, json_option, optional_run_argument, tmux_option

if TYPE_CHECKING:
    from handrail.wiring.session import Session


@click.command("resume", epilog="Example: handrail resume fix-bug-1")
@optional_run_argument
@tmux_option
@detach_option
@json_option
def command(*, run: str | None, tmux: bool, detach: bool, as_json: bool) -> int:
    """Continue a run that is paused, needs you, failed or was interrupted; finished steps are not repeated.

    Without RUN, the only run that can be resumed is chosen; if there are several, you are asked which.
    """
    from handrail.cli.live.follow_run import continue_detached, watch
    from handrail.cli.output import note
    from handrail.operations.driving.resume import describe_progress, resume_family
    from handrail.operations.views.attach import request_agent_windows
    from handrail.operations.views.run_tree import refuse_if_driven, root_of
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found = (
            session.find(run)
            if run is not None
            else _find_only_run(session, may_ask=not as_json and sys.stdin.isatty())
        )
        refuse_if_driven(session.log, found)
        if tmux:
            request_agent_windows(session.machine.windows, session.system.folder / "runs", root_of(session.log, found))
        watched = watch(session, found, "handrail resume", as_json=as_json)
        said = describe_progress(session.log, found)
        resume_family(session.writer, found, str(current_actor()))
        note(said)
        return continue_detached(watched) if detach else watched.go()


def _find_only_run(session: "Session", *, may_ask: bool) -> str:
    from handrail.errors import NotFound, UsageError
    from handrail.operations.driving.resume import list_resumable_runs

    found = list_resumable_runs(session.log)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound("no run can be resumed", next_step="handrail status")
    if may_ask:
        return _choose_run(session, found)
    raise UsageError(
        f"{len(found)} runs can be resumed: {', '.join(found[:8])}", next_step=f"handrail resume {found[0]}"
    )


def _choose_run(session: "Session", found: list[str]) -> str:
    """Let the person choose among the runs that can be resumed, the newest first."""
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.views.overview import line_for_run
    from handrail.operations.views.run_document import LoggedRuns

    runs = LoggedRuns(session.log)
    for number, run in enumerate(found, start=1):
        line = line_for_run(runs, run)
        said = "  ".join(part for part in (run, line.where, " ".join(line.words.split())) if part)
        click.echo(f"{number:>3}  {escape_controls(said)}", err=True)
    chosen: int = click.prompt("Which one", type=click.IntRange(1, len(found)), err=True)
    return found[chosen - 1]

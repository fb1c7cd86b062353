"""`handrail release`."""

import click

from handrail.cli.options import detach_option, json_option, run_argument


@click.command("release", epilog="Example: handrail release fix-bug-1")
@run_argument
@detach_option
@json_option
def command(*, run: str, detach: bool, as_json: bool) -> int:
    """Give a run back to Handrail, which goes on with it here: it calls agents of its own for the rest."""
    from handrail.cli.live.follow_run import go_on, go_on_detached, watch
    from handrail.cli.output import note
    from handrail.operations.driving.resume import release_family
    from handrail.wiring.session import current_user, run_session

    with run_session() as session:
        found = session.find(run)
        watched = watch(session, found, "handrail release", as_json=as_json)
        release_family(session.writer, found, current_user())
        note(f"{found} is Handrail's again")
        return go_on_detached(watched) if detach else go_on(watched)

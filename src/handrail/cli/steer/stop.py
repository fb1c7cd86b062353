"""`handrail stop`."""

import click

from handrail.cli.options import json_option, run_argument


@click.command("stop", epilog="Example: handrail stop fix-bug-1")
@run_argument
@json_option
def command(*, run: str, as_json: bool) -> int:
    """Stop a run for good, and end what it started. To go on later, pause it with Ctrl-C instead."""
    from handrail.cli.live.follow_run import take_up, watch
    from handrail.operations.driving.resume import stop_family
    from handrail.wiring.session import current_user, run_session

    with run_session() as session:
        found = session.find(run)
        watched = watch(session, found, "handrail stop", as_json=as_json)
        stop_family(session.writer, found, current_user())
        take_up(watched)
        watched.report()
        return 0

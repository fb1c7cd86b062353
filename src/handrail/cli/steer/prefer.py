"""`handrail prefer`."""

import click

from handrail.cli.options import json_option, run_argument
from handrail.model.workflow.settings import Autonomy, Risk

_AUTONOMY = click.Choice(("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"))
_RISK = click.Choice(("conservative", "balanced", "aggressive"))


@click.command("prefer", epilog="Example: handrail prefer review-1 --autonomy full_auto_never_stop")
@run_argument
@click.option("--autonomy", type=_AUTONOMY, default=None, help="How far it continues without you.")
@click.option("--risk", type=_RISK, default=None, help="What it may risk if the agent may lack a capability.")
@json_option
def command(*, run: str, autonomy: Autonomy | None, risk: Risk | None, as_json: bool) -> int:
    """Set how autonomous a guided run is, and its risk level.

    What is skipped because of it is recorded, and shown when the run ends.
    """
    from dataclasses import asdict

    from handrail.cli.live.follow_run import process_inbox, watch
    from handrail.cli.output import write_json
    from handrail.operations.runs.prefer import Preference, prefer
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found = session.find(run)
        now = prefer(
            session.writer, found, Preference(by=str(current_actor()), autonomy=autonomy or "", risk=risk or "")
        )
        process_inbox(watch(session, found, "handrail prefer", as_json=as_json))
        if as_json:
            write_json(asdict(now))
        else:
            click.echo(f"{now.run}: autonomy {now.autonomy}, risk {now.risk}")
        return 0

"""`handrail reject`."""

import click

from handrail.cli.options import detach_option, json_option, message_option, run_argument


@click.command("reject", epilog="Example: handrail reject fix-bug-1")
@run_argument
@message_option
@detach_option
@json_option
def command(*, run: str, text: str, detach: bool, as_json: bool) -> int:
    """Reject what a run is waiting for; the run ends unless its workflow says otherwise."""
    from handrail.cli.steer.send_answer import send_decision

    return send_decision(run, "reject", text, detach=detach, as_json=as_json)

"""`handrail approve`."""

import click

from handrail.cli.options import detach_option, json_option, message_option, run_argument


@click.command("approve", epilog="Example: handrail approve fix-bug-1")
@run_argument
@message_option
@detach_option
@json_option
def command(*, run: str, text: str, detach: bool, as_json: bool) -> int:
    """Approve what a run is waiting for, and continue it."""
    from handrail.cli.steer.send_answer import send_decision

    return send_decision(run, "approve", text, detach=detach, as_json=as_json)

"""`handrail revise`."""

import click

from handrail.cli.options import detach_option, json_option, run_argument


@click.command("revise", epilog='Example: handrail revise fix-bug-1 -m "keep the old name"')
@run_argument
@click.option("-m", "--message", "text", metavar="TEXT", required=True, help="What should change.")
@detach_option
@json_option
def command(*, run: str, text: str, detach: bool, as_json: bool) -> int:
    """Send the work back with a comment, and continue from the step that the workflow names."""
    from handrail.cli.steer.send_answer import send_decision

    return send_decision(run, "revise", text, detach=detach, as_json=as_json)

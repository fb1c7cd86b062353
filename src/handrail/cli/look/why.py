"""`handrail why`."""

import click

from handrail.cli.options import json_option, run_argument, step_argument
from handrail.cli.output import write_json
from handrail.cli.render.safe_text import escape_controls, pad, width


@click.command("why", epilog="Example: handrail why fix-bug-1 checks")
@run_argument
@step_argument
@json_option
def command(*, run: str, step: str | None, as_json: bool) -> None:
    """Explain why each step ran, was skipped or repeated, with the values that decided."""
    from handrail.operations.views.explain import describe_why, explain, reason_data
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        reasons = explain(session.log, found, step)
    if as_json:
        write_json({"run": found, "reasons": [reason_data(each) for each in reasons]})
        return
    columns = max(width(escape_controls(each.address)) for each in reasons)
    for each in reasons:
        decided = f"; {describe_why(each.why)}" if each.why is not None else ""
        click.echo(f"{pad(escape_controls(each.address), columns)}  {escape_controls(each.what + decided)}".strip())

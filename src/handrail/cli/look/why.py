"""`handrail why`."""

import click

from handrail.cli.options import json_option, run_argument, step_argument
from handrail.cli.output import write_json
from handrail.cli.render.safe_text import harmless, pad, width


@click.command("why", epilog="Example: handrail why fix-bug-1 checks")
@run_argument
@step_argument
@json_option
def command(*, run: str, step: str | None, as_json: bool) -> None:
    """Explain why each step ran, was skipped or repeated, with the values that decided."""
    from handrail.operations.views.explain import explain, reason_data, why_words
    from handrail.wiring.session import run_session

    with run_session() as session:
        found = session.find(run)
        reasons = explain(session.log, found, step)
    if as_json:
        write_json({"run": found, "reasons": [reason_data(each) for each in reasons]})
        return
    columns = max(width(harmless(each.address)) for each in reasons)
    for each in reasons:
        decided = f"; {why_words(each.why)}" if each.why is not None else ""
        click.echo(f"{pad(harmless(each.address), columns)}  {harmless(each.what + decided)}".strip())

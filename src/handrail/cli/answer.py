"""`handrail answer`."""

import click

from handrail.cli.options import json_option, run_argument


@click.command("answer", epilog='Example: handrail answer fix-bug-1 "use the second one"')
@run_argument
@click.argument("text")
@json_option
def command(*, run: str, text: str, as_json: bool) -> int:
    """Answer a question that a run asks. Steps that ask for approval take approve, revise or reject instead."""
    from handrail.cli.session import run_session
    from handrail.errors import UsageError
    from handrail.operations.families import asking

    del text, as_json
    with run_session() as session:
        found = session.find(run)
        asks = asking(session.log, found)
    if asks is not None:
        hint = f"handrail approve {asks.run}, or revise -m TEXT, or reject"
        raise UsageError(f"{asks.run} asks for approval, not for an answer in words", next_step=hint)
    raise UsageError(f"{found} asks no question", next_step=f"handrail status {found}")

"""`handrail answer`."""

import click

from handrail.cli.options import detach_option, json_option, run_argument


@click.command("answer", epilog='Example: handrail answer fix-bug-1 "use the second one"')
@run_argument
@click.argument("text")
@detach_option
@json_option
def command(*, run: str, text: str, detach: bool, as_json: bool) -> int:
    """Answer a question that an agent of a run asked, and continue it.

    For steps that ask for approval, use approve, revise or reject instead.
    """
    from handrail.cli.steer.send_answer import send_words

    return send_words(run, text, detach=detach, as_json=as_json)

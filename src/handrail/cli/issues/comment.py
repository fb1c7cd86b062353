"""`handrail issues comment`."""

import click

from handrail.cli.issues.options import issue_argument
from handrail.cli.options import json_option


@click.command("comment", epilog='Example: handrail issues comment shop-a1b "It happens in Firefox too."')
@issue_argument
@click.argument("text")
@json_option
def command(*, issue: str, text: str, as_json: bool) -> None:
    """Comment on an issue."""
    from handrail.cli.output import write_json
    from handrail.errors import UsageError
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    if not text.strip():
        raise UsageError("the comment is empty", next_step='handrail issues comment ISSUE "TEXT"')
    actor = current_actor()
    with open_issue_book(actor) as book:
        number, tracker = book.comment(issue, text, str(actor)), book.tracker
    if as_json:
        write_json({"issue": issue, "comment": number})
    else:
        click.echo(f"{issue}: comment {number}")
    if tracker == "local" and actor.decides and "/" in text:
        from handrail.cli.issues.answers import take_up_answers

        take_up_answers(issue, quiet=as_json)

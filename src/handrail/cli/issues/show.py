"""`handrail issues show`."""

import click

from handrail.cli.issues.options import issue_argument
from handrail.cli.options import json_option


@click.command("show", epilog="Example: handrail issues show shop-a1b")
@issue_argument
@json_option
def command(*, issue: str, as_json: bool) -> None:
    """Show an issue with its texts, dependencies and comments."""
    from handrail.cli.output import write_json
    from handrail.operations.issues.find import find_dependents, issue_data
    from handrail.wiring.issues import open_issue_book

    with open_issue_book() as book:
        found = book.read(issue)
        dependents = find_dependents(book, issue)
    if as_json:
        write_json({**issue_data(found), "dependents": dependents})
        return
    from handrail.cli.issues.screen import render_issue

    click.echo(render_issue(found, dependents))

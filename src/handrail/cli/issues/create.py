"""`handrail issues create`."""

import click

from handrail.cli.issues.options import priority_option
from handrail.cli.options import json_option


@click.command("create", epilog='Example: handrail issues create "The cart loses items" -t bug -p 1')
@click.argument("title")
@click.option("-d", "--description", default="", help="What is wrong or wanted.")
@click.option("--design", default="", help="How it should be done.")
@click.option("--acceptance", default="", help="How one sees that it is done.")
@click.option("-t", "--type", "kind", default="task", show_default=True, help="task, bug, feature, epic, chore, ...")
@priority_option
@click.option("-l", "--label", "labels", multiple=True, help="A label; may be repeated.")
@click.option("--dep", "deps", multiple=True, metavar="[KIND:]ISSUE", help="Depends on this issue; may be repeated.")
@click.option("--parent", default="", metavar="ISSUE", help="The issue that it is a part of.")
@click.option("--external-ref", default="", help="What it is called elsewhere, such as gh-9.")
@json_option
def command(*, title: str, kind: str, deps: tuple[str, ...], parent: str, as_json: bool, **texts: object) -> None:
    """Create an issue in the local tracker of this repository."""
    from handrail.cli.output import write_json
    from handrail.operations.issues.create import NewIssue, create_issue
    from handrail.operations.issues.find import issue_data
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    with open_issue_book(current_actor()) as book:
        wanted = NewIssue.from_words(title=title, kind=kind, deps=deps, parent=parent, **texts)
        issue = create_issue(book, wanted, str(current_actor()))
    if as_json:
        write_json(issue_data(issue))
    else:
        from handrail.cli.render.safe_text import escape_controls

        click.echo(f"{issue.id}: {escape_controls(issue.text('title'))}")

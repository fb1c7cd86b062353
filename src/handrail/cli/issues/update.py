"""`handrail issues update` and `handrail issues close`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.issues.options import issue_argument, issues_argument, priority_option
from handrail.cli.options import json_option

if TYPE_CHECKING:
    from handrail.model.issue_records import LocalIssue


@click.command("update", epilog="Example: handrail issues update shop-a1b -p 0 --add-label urgent")
@issue_argument
@click.option("--title", help="Another title.")
@click.option("-d", "--description", help="What is wrong or wanted.")
@click.option("--design", help="How it should be done.")
@click.option("--acceptance", "acceptance_criteria", help="How one sees that it is done.")
@click.option("--notes", help="Anything else.")
@click.option("-s", "--status", help="open, in_progress, blocked, deferred, closed, or a word of your own.")
@priority_option
@click.option("-t", "--type", "issue_type", help="task, bug, feature, epic, chore, ...")
@click.option("--assignee", help="Who works on it; empty for nobody.")
@click.option("--add-label", "add_labels", multiple=True, help="A label; may be repeated.")
@click.option("--remove-label", "remove_labels", multiple=True, help="A label; may be repeated.")
@click.option("--defer-until", metavar="TIME", help="Not ready before, such as 2027-01-31 or 2027-01-31T09:00:00Z.")
@click.option("--due", "due_at", metavar="TIME", help="When it should be done.")
@click.option("--external-ref", help="What it is called elsewhere, such as gh-9.")
@click.option("--estimate", "estimated_minutes", type=click.IntRange(min=0), help="Minutes.")
@json_option
def command(
    *, issue: str, add_labels: tuple[str, ...], remove_labels: tuple[str, ...], as_json: bool, **fields: object
) -> None:
    """Change fields of an issue; an empty text removes one."""
    from handrail.operations.issues.change import LabelChange, update_issue
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    with open_issue_book() as book:
        labels = LabelChange(add_labels, remove_labels)
        _show([update_issue(book, issue, fields, labels, str(current_actor()))], as_json=as_json)


@click.command("close", epilog='Example: handrail issues close shop-a1b --reason "fixed in 1.2"')
@issues_argument
@click.option("-r", "--reason", default="completed", show_default=True, help="Why it is closed.")
@json_option
def close_command(*, issues: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Close issues; closing one that is closed is a success."""
    from handrail.operations.issues.change import close_issue
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    with open_issue_book() as book:
        for each in issues:
            book.read(each)
        _show([close_issue(book, each, reason, str(current_actor())) for each in issues], as_json=as_json)


def _show(issues: "list[LocalIssue]", *, as_json: bool) -> None:
    from handrail.cli.output import write_json
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.issues.find import issue_data

    if as_json:
        write_json({"issues": [issue_data(each) for each in issues]})
        return
    for each in issues:
        click.echo(escape_controls(f"{each.id}: {each.status}, P{each.priority}, {each.text('title')}"))

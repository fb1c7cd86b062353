"""`handrail issues list`."""

import click

from handrail.cli.issues.options import note_tracker, priority_option
from handrail.cli.options import json_option


@click.command("list", epilog="Example: handrail issues list --label bug --status open")
@click.option("--all", "every", is_flag=True, help="The closed ones too.")
@click.option("-s", "--status", "statuses", multiple=True, help="With this status; may be repeated.")
@click.option("-l", "--label", "labels", multiple=True, help="With this label; may be repeated.")
@click.option("--assignee", default="", help="Assigned to this actor, such as person:ann.")
@click.option("-t", "--type", "kind", default="", help="Of this type.")
@priority_option
@click.option("--text", default="", help="With this text in the title.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=50, show_default=True, help="0 for no limit.")
@json_option
def command(*, as_json: bool, **wanted: object) -> None:
    """List the issues of this repository, the most recently changed first."""
    from handrail.cli.output import note, write_json
    from handrail.operations.issues.find import WantedIssues, find_issues, line_data
    from handrail.wiring.issues import open_issue_book

    with open_issue_book() as book:
        lines, total = find_issues(book, WantedIssues(**wanted))  # pyright: ignore[reportArgumentType] - click's words
        tracker, is_empty = book.tracker, not lines and not book.lines()
    if as_json:
        write_json({"tracker": tracker, "issues": [line_data(line) for line in lines], "total": total})
        return
    from handrail.cli.issues.screen import describe_empty, render_lines

    note_tracker()
    none = (
        describe_empty(tracker)
        if is_empty
        else "no issue matches; handrail issues list --all shows the closed ones too"
    )
    click.echo(render_lines(lines) if lines else none)
    if total > len(lines):
        note(f"{total - len(lines)} more: handrail issues list -n 0")

"""`handrail issues dep`."""

import click

from handrail.cli.issues.options import complete_issues
from handrail.cli.options import json_option


@click.command("dep", epilog="Example: handrail issues dep add shop-a1b shop-c2d")
@click.argument("what", type=click.Choice(["add", "remove"]))
@click.argument("issue", metavar="ISSUE", shell_complete=complete_issues)
@click.argument("on", metavar="ON", shell_complete=complete_issues)
@click.option("-t", "--type", "kind", default="", help="blocks (the default), parent-child, related, waits-for, ...")
@json_option
def command(*, what: str, issue: str, on: str, kind: str, as_json: bool) -> int:
    """Let ISSUE depend on the issue ON, or no longer.

    Of the kinds of dependencies, blocks, conditional-blocks, waits-for and parent-child affect what is ready.
    """
    from handrail.cli.output import write_json
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    with open_issue_book(current_actor()) as book:
        if what == "add":
            book.link(issue, on, kind or "blocks", str(current_actor()))
            done = "added"
        else:
            done = "removed" if book.unlink(issue, on, kind, str(current_actor())) else "absent"
    if as_json:
        write_json({"status": done, "issue_id": issue, "depends_on_id": on, "type": kind or "blocks"})
    else:
        from handrail.cli.render.safe_text import escape_controls

        words = {"added": "depends on", "removed": "no longer depends on", "absent": "did not depend on"}
        shown = f" ({kind})" if kind and kind != "blocks" else ""
        click.echo(escape_controls(f"{issue} {words[done]} {on}{shown}"))
    return 0

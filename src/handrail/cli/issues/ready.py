"""`handrail issues ready`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.issues.options import note_tracker
from handrail.cli.options import json_option

if TYPE_CHECKING:
    from handrail.ports.issue_books import ReadyIssues, ReadyOrder


@click.command("ready", epilog="Example: handrail issues ready --explain")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=100, show_default=True, help="0 for no limit.")
@click.option("--sort", "order", type=click.Choice(["priority", "oldest", "hybrid"]), default="priority", help="Order.")
@click.option("--explain", is_flag=True, help="Say of each issue that is not ready why.")
@json_option
def command(*, limit: int, order: "ReadyOrder", explain: bool, as_json: bool) -> None:
    """List the issues that can be worked on now, the most urgent first.

    Ready is what is open, not claimed, not deferred, and blocked by nothing. Claims of runs that are over are released.
    """
    from handrail.cli.output import note, write_json
    from handrail.wiring.issues import open_issue_book

    with open_issue_book() as book:
        found = book.find_ready(order, explain=explain)
        tracker, left = book.tracker, () if found.ready else book.lines()
    for issue, why in found.released:
        note(f"the claim of {issue} was released: {why}")
    lines = found.ready[: limit or None]
    if as_json:
        write_json({"tracker": tracker, **_data(found, limit, explain=explain)})
        return
    from handrail.cli.issues.screen import describe_empty, render_lines
    from handrail.cli.render.safe_text import escape_controls

    note_tracker()
    none = "nothing is ready" if explain else "nothing is ready; handrail issues ready --explain says why"
    click.echo(render_lines(lines) if lines else none if left else describe_empty(tracker))
    if explain:
        for issue, why in found.reasons.items():
            click.echo(escape_controls(f"{issue} is not ready: {why}"))


def _data(found: "ReadyIssues", limit: int, *, explain: bool) -> dict[str, object]:
    from handrail.operations.issues.find import line_data

    shown: dict[str, object] = {
        "issues": [line_data(line) for line in found.ready[: limit or None]],
        "total": len(found.ready),
    }
    return {**shown, "not_ready": dict(found.reasons)} if explain else shown

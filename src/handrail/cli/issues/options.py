"""Options and arguments of commands about issues."""

import re
import sys

import click

PRIORITIES = re.compile(r"[Pp]?([0-4])\Z")


class PriorityType(click.ParamType[int]):
    """A priority: 0 to 4, or P0 to P4."""

    name = "priority"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a priority."""
        found = PRIORITIES.match(str(value))
        if found is None:
            self.fail(f"'{value}' is not a priority: use 0, the most urgent, to 4", param, ctx)
        return int(found[1])


def complete_issues(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of issues that are not closed."""
    from handrail.errors import HandrailError
    from handrail.operations.issues.find import WantedIssues, find_issues
    from handrail.wiring.issues import open_issue_book

    try:
        with open_issue_book() as book:
            lines, _ = find_issues(book, WantedIssues(limit=0))
    except HandrailError:
        return []
    return [line.id for line in lines if line.id.startswith(incomplete)]


def note_tracker() -> None:
    """Say on a terminal which tracker has the issues, in a repository with beads."""
    from handrail.cli.output import note
    from handrail.wiring.issues import describe_tracker
    from handrail.wiring.place import current_place

    if sys.stderr.isatty() and (tracker := describe_tracker(current_place())):
        note(f"issues: {tracker}")


issue_argument = click.argument("issue", metavar="ISSUE", shell_complete=complete_issues)
issues_argument = click.argument("issues", metavar="ISSUE...", nargs=-1, required=True, shell_complete=complete_issues)
priority_option = click.option("-p", "--priority", type=PriorityType(), help="0, the most urgent, to 4.")

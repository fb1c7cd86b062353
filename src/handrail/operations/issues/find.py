"""Finds issues in the local tracker by what their lines in lists say."""

from typing import cast

from handrail.frozen import frozen
from handrail.model.issue_records import IssueLine, LocalIssue
from handrail.model.workflow.values import JsonValue
from handrail.ports.issue_books import IssueBook


@frozen(kw_only=True)
class WantedIssues:
    """Which issues to list: by default those that are not closed, the most recently changed first."""

    statuses: tuple[str, ...] = ()
    """One of these; empty for every one but `closed`."""
    every: bool = False
    """The closed ones too."""
    labels: tuple[str, ...] = ()
    """All of these."""
    assignee: str = ""
    kind: str = ""
    priority: int | None = None
    text: str = ""
    """In the title, whatever the case."""
    limit: int = 50
    """0 for no limit."""


def find_issues(book: IssueBook, wanted: WantedIssues) -> tuple[tuple[IssueLine, ...], int]:
    """Return the wanted issues, and how many there are without the limit."""
    found = [line for line in book.lines() if _matches(line, wanted)]
    found.sort(key=lambda line: (-line.updated, line.id))
    return tuple(found[: wanted.limit or None]), len(found)


def _matches(line: IssueLine, wanted: WantedIssues) -> bool:
    return (
        _has_status(line, wanted)
        and set(wanted.labels) <= set(line.labels)
        and wanted.assignee in ("", line.assignee)
        and wanted.kind in ("", line.kind)
        and wanted.priority in (None, line.priority)
        and wanted.text.casefold() in line.title.casefold()
    )


def _has_status(line: IssueLine, wanted: WantedIssues) -> bool:
    return line.status in wanted.statuses if wanted.statuses else wanted.every or line.status != "closed"


def line_data(line: IssueLine) -> dict[str, JsonValue]:
    """Describe the line of an issue to programs."""
    return {
        "id": line.id,
        "title": line.title,
        "status": line.status,
        "priority": line.priority,
        "issue_type": line.kind,
        "assignee": line.assignee,
        "labels": cast("JsonValue", line.labels),
    }


def issue_data(issue: LocalIssue) -> dict[str, JsonValue]:
    """Describe a whole issue to programs."""
    claim = issue.claim
    claimed: JsonValue = None if claim is None else {"by": claim.by, "run": claim.run, "at": claim.at}
    return {
        "id": issue.id,
        "tracker": issue.place,
        "repository": issue.repository,
        "status": "open",
        "priority": 2,
        **issue.record,
        "claim": claimed,
    }


def find_dependents(book: IssueBook, issue: str) -> list[str]:
    """List the issues that depend on one, in whatever way."""
    return sorted(line.id for line in book.lines() if any(each[0] == issue for each in line.links))

"""Changes and closes issues."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.model.issue_records import LocalIssue
from handrail.model.workflow.values import JsonValue
from handrail.operations.issues.create import ALIASES
from handrail.ports.issues.books import IssueBook

TIMES = ("defer_until", "due_at")


@frozen
class LabelChange:
    """Labels to add and to remove."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def update_issue(book: IssueBook, issue: str, fields: Mapping[str, object], labels: LabelChange, by: str) -> LocalIssue:
    """Set the fields that are not None; an empty text removes one."""
    wanted: Record = {name: cast("JsonValue", value) for name, value in fields.items() if value is not None}
    for name in TIMES:
        if wanted.get(name):
            wanted[name] = _time(str(wanted[name]))
    if "issue_type" in wanted:
        wanted["issue_type"] = ALIASES.get(str(wanted["issue_type"]), wanted["issue_type"])
    if labels.add or labels.remove:
        found = [each for each in book.read(issue).texts("labels") if each not in labels.remove]
        wanted["labels"] = cast("JsonValue", list(dict.fromkeys((*found, *labels.add))))
    if not wanted:
        raise UsageError("there is nothing to change", next_step="handrail issues update --help")
    return book.edit(issue, {name: None if value == "" else value for name, value in wanted.items()}, by)


def close_issue(book: IssueBook, issue: str, reason: str, by: str) -> LocalIssue:
    """Close an issue; one that is closed stays as it is."""
    found = book.read(issue)
    return found if found.status == "closed" else book.edit(issue, {"status": "closed", "close_reason": reason}, by)


def _time(text: str) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"'{text}' is not a time", next_step="write it as 2027-01-31 or 2027-01-31T09:00:00Z"
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")

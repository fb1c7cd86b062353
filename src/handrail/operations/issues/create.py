"""Creates an issue with its dependencies."""

from dataclasses import field
from typing import cast

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.model.issue_records import LocalIssue
from handrail.model.workflow.values import JsonValue
from handrail.ports.issues.books import IssueBook

ALIASES = {"enhancement": "feature", "feat": "feature"}
"""Other words for types of issues."""


@frozen(kw_only=True)
class NewIssue:
    """An issue to be created."""

    record: Record = field(default_factory=dict[str, JsonValue])
    parent: str = ""
    links: tuple[tuple[str, str], ...] = ()
    """Kind and id."""

    @staticmethod
    def from_words(*, title: str, kind: str, deps: tuple[str, ...], parent: str, **others: object) -> "NewIssue":
        """Build an issue from the words of a command."""
        texts = {name: cast("JsonValue", others.get(name, "")) for name in ("description", "design", "external_ref")}
        priority = others.get("priority")
        record: Record = {
            "title": title,
            **texts,
            "acceptance_criteria": cast("JsonValue", others.get("acceptance", "")),
            "issue_type": ALIASES.get(kind, kind),
            "status": "open",
            "priority": 2 if priority is None else cast("int", priority),
            "labels": list(cast("tuple[str, ...]", others.get("labels", ()))),
        }
        return NewIssue(record=record, parent=parent, links=tuple(map(parse_link, deps)))


def parse_link(words: str) -> tuple[str, str]:
    """Read `KIND:ISSUE`, or the id of an issue that blocks."""
    kind, colon, issue = words.rpartition(":")
    if not issue or (colon and not kind):
        raise UsageError(f"'{words}' names no issue", next_step="write ISSUE or KIND:ISSUE, such as related:shop-a1b")
    return kind or "blocks", issue


def create_issue(book: IssueBook, new: NewIssue, by: str) -> LocalIssue:
    """Create an issue; what it depends on has to exist."""
    for _, on in new.links:
        book.read(on)
    issue = book.create(new.record, by, new.parent)
    for kind, on in new.links:
        book.link(issue, on, kind, by)
    return book.read(issue)

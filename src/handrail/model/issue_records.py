"""An issue of the local tracker as its facts leave it, and its line in lists."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, cast

from handrail.frozen import frozen
from handrail.model.issues import LOCAL, Claim, IssueRef

if TYPE_CHECKING:
    from handrail.model.issue_events import Record
    from handrail.model.workflow.values import JsonValue

MAX_TITLE = 500
"""The most characters of a title."""
LINKS = (
    *("blocks", "parent-child", "conditional-blocks", "waits-for", "related", "discovered-from", "replies-to"),
    *("relates-to", "duplicates", "supersedes", "tracks", "until", "caused-by", "validates", "delegated-from"),
)
"""The usual kinds of dependencies; only the first four affect what is ready."""
MAX_LINK = 50
"""The most characters of a kind of dependency."""


class IssueLine(NamedTuple):
    """The entry of an issue in lists: what is ready is computed from these alone."""

    id: str
    title: str
    status: str
    priority: int
    kind: str
    assignee: str
    labels: list[str]
    created: float
    updated: float
    deferred_until: float
    hidden: int
    """1 if it is pinned or ephemeral: such an issue is never ready."""
    claimed: str
    """Who works on it: the actor, and after a space the run and the time of the claim."""
    links: list[list[str]]
    """`[id, kind, gate]` of each dependency."""
    marker: str
    repository: str

    @property
    def stream(self) -> str:
        """The stream of its facts."""
        return IssueRef(LOCAL, self.id).stream


@frozen(kw_only=True)
class LocalIssue:
    """An issue as its facts leave it."""

    id: str
    seq: int = 0
    """How many facts it has; 0 for one that does not exist."""
    place: str = LOCAL
    """The place of the tracker that has it."""
    repository: str = ""
    record: "Record" = field(default_factory=dict[str, "JsonValue"])
    marker: str = ""
    claim: Claim | None = None
    comment_markers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The markers of comments that Handrail wrote, by the id of the comment."""
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of the fact that last changed each comment."""

    @property
    def ref(self) -> IssueRef:
        """Its name."""
        return IssueRef(self.place, self.id)

    def text(self, name: str) -> str:
        """Return a field that is a text; empty if it has none."""
        value = self.record.get(name)
        return value if isinstance(value, str) else ""

    def records(self, name: str) -> "list[Record]":
        """Return a field that is a list of objects."""
        value = self.record.get(name)
        return [cast("Record", each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts."""
        value = self.record.get(name)
        return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

    @property
    def status(self) -> str:
        """Its status."""
        return self.text("status") or "open"

    @property
    def priority(self) -> int:
        """Its priority, from 0 to 4."""
        value = self.record.get("priority")
        return value if isinstance(value, int) and not isinstance(value, bool) else 2

    @property
    def parent(self) -> str:
        """The id of the issue that it is a part of."""
        links = self.records("dependencies")
        return next((str(each.get("depends_on_id")) for each in links if each.get("type") == "parent-child"), "")

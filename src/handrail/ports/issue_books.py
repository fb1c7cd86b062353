"""The issues of a repository on this machine, as commands see them: whole records, more than all trackers share."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.issue_records import IssueLine, LocalIssue
from handrail.model.issues import Claim, ClaimResult, TrackerKind

if TYPE_CHECKING:
    from handrail.model.issue_events import Record
    from handrail.model.workflow.values import JsonValue
    from handrail.ports.log import Log
    from handrail.ports.log_care import Finding, TruncatedStream

ReadyOrder: TypeAlias = Literal["priority", "oldest", "hybrid"]


@frozen(kw_only=True)
class ReadyIssues:
    """What can be worked on, and why the rest cannot."""

    ready: tuple[IssueLine, ...]
    reasons: Mapping[str, str]
    """By id, for each issue that is neither closed nor ready; empty unless they were asked for."""
    released: tuple[tuple[str, str], ...] = ()
    """The stale claims that were released just now: id and reason."""


@frozen(kw_only=True)
class ImportCounts:
    """What became of the lines of a file."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    """Each line that was skipped, with the reason."""


class IssueCare(Protocol):
    """Checks and repairs what a log holds of local issues."""

    def examine(self, log: "Log") -> "tuple[Finding, ...]":
        """Report issues that cannot be read, and those that lists do not show as they are."""
        ...

    def repair(self, log: "Log") -> "tuple[TruncatedStream, ...]":
        """Truncate issues to the events that can be read, and write their lines in lists again."""
        ...


class IssueBook(Protocol):
    """The issues of one repository that are kept on this machine: by the local tracker, or by beads."""

    @property
    def tracker(self) -> TrackerKind:
        """Which tracker it is."""
        ...

    @property
    def repository(self) -> str:
        """The main checkout of the repository."""
        ...

    def read(self, issue: str) -> LocalIssue:
        """Read an issue by its id; `NotFound` if there is none."""
        ...

    def read_several(self, issues: Iterable[str]) -> tuple[LocalIssue, ...]:
        """Read issues for a list; their comments may be missing."""
        ...

    def lines(self) -> tuple[IssueLine, ...]:
        """List the issues of the repository, whatever their status."""
        ...

    def create(self, record: "Record", by: str, parent: str = "", marker: str = "") -> str:
        """Create an issue and return its id."""
        ...

    def edit(self, issue: str, fields: "Record", by: str) -> LocalIssue:
        """Set fields; None removes one, and what is already so stays."""
        ...

    def link(self, issue: str, on: str, kind: str, by: str) -> None:
        """Let an issue depend on another; a circle of dependencies that block is refused."""
        ...

    def unlink(self, issue: str, on: str, kind: str, by: str) -> bool:
        """Remove a dependency; False if there was none."""
        ...

    def comment(self, issue: str, text: str, by: str, marker: str = "") -> str:
        """Write a comment, or change the one of a marker, and return its id."""
        ...

    def claim(self, issue: str, claim: Claim) -> ClaimResult:
        """Claim an issue: of any number of processes one gets it."""
        ...

    def release(self, issue: str, claimed_by: str, by: str, why: str) -> bool:
        """End a claim, of anybody if nobody is named; False if there was none."""
        ...

    def find_ready(self, order: ReadyOrder = "priority", *, explain: bool = False) -> ReadyIssues:
        """Release stale claims, and list what is ready."""
        ...

    def put_records(
        self, records: "Iterable[Record]", by: str, on_progress: Callable[[int], None] | None = None
    ) -> ImportCounts:
        """Create or replace issues from records of a file."""
        ...

    def export_records(self) -> "tuple[dict[str, JsonValue], ...]":
        """Return the records of all issues of the repository, by id."""
        ...

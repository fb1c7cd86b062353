"""The facts of an issue of the local tracker, in its stream `issue:local#ID`.

An issue is a record in the interchange form of beads: a JSON object with `title`, `status`, `priority` and so on, in
which fields that Handrail does not know are kept. Times inside a record are RFC 3339 texts.
"""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

VERSION = 1
"""The version of the shapes of these facts."""
Record: TypeAlias = dict[str, JsonValue]


@frozen(kw_only=True)
class IssueCreated:
    """An issue was created."""

    repository: str
    """The main checkout of the repository that it belongs to."""
    record: Record
    marker: str = ""
    """Identifies what asked for it, so that it is not created twice."""
    by: str = ""
    at: float
    kind: Literal["issue_created"] = "issue_created"


@frozen(kw_only=True)
class IssueImported:
    """An issue came from a file, or was replaced by what the file says."""

    repository: str
    record: Record
    by: str = ""
    at: float
    kind: Literal["issue_imported"] = "issue_imported"


@frozen(kw_only=True)
class IssueEdited:
    """Fields of an issue were set; None removes one."""

    fields: Record
    by: str = ""
    at: float
    kind: Literal["issue_edited"] = "issue_edited"


@frozen(kw_only=True)
class IssueClaimed:
    """A run or a person began to work on an issue."""

    by: str
    run: str = ""
    at: float
    kind: Literal["issue_claimed"] = "issue_claimed"


@frozen(kw_only=True)
class ClaimReleased:
    """A claim ended before the issue was closed."""

    claimed_by: str
    why: str = ""
    by: str = ""
    at: float
    kind: Literal["claim_released"] = "claim_released"


@frozen(kw_only=True)
class DependencyAdded:
    """An issue began to depend on another."""

    on: str
    link: str
    by: str = ""
    at: float
    kind: Literal["dependency_added"] = "dependency_added"


@frozen(kw_only=True)
class DependencyRemoved:
    """An issue no longer depends on another."""

    on: str
    link: str
    by: str = ""
    at: float
    kind: Literal["dependency_removed"] = "dependency_removed"


@frozen(kw_only=True)
class CommentWritten:
    """Somebody commented on an issue."""

    id: str
    text: str
    marker: str = ""
    by: str
    at: float
    kind: Literal["comment_written"] = "comment_written"


@frozen(kw_only=True)
class CommentEdited:
    """The text of a comment changed."""

    id: str
    text: str
    at: float
    kind: Literal["comment_edited"] = "comment_edited"


IssueEvent: TypeAlias = (
    IssueCreated
    | IssueImported
    | IssueEdited
    | IssueClaimed
    | ClaimReleased
    | DependencyAdded
    | DependencyRemoved
    | CommentWritten
    | CommentEdited
)
"""Every fact of an issue."""

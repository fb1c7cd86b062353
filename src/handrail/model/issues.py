"""Issues: what trackers keep, and how one is named.

An issue is named by its tracker, the place in which its id counts, and that id: `github.com/acme/shop#12`, or
`local#shop-a3f`. Its facts are in the stream `issue:NAME` of the log, whichever tracker it lives in.

All text of an issue, a comment or an attachment is data from outside: nothing in it is ever executed, parsed as a
template, or taken for a decision.
"""

import re
from dataclasses import field
from typing import Literal, TypeAlias

from handrail.frozen import frozen

TrackerKind: TypeAlias = Literal["local", "beads", "github", "memory"]
CloseReason: TypeAlias = Literal["completed", "not_planned"]
STREAM = "issue:"
"""The prefix of the streams that hold the facts of issues."""
LOCAL = "local"
"""The place of the issues of the local tracker."""
BEADS = "beads"
"""The place of the issues that beads keeps: `beads/KEY`, with a key for each repository; runs of old logs have none."""
_NAME = re.compile(r"(?P<place>[^#\s]+)#(?P<id>[^#\s]+)\Z")
_MARK = re.compile(r"<!--[\s\u200b-\u200f\u2060\ufeff]*handrail", re.IGNORECASE)


@frozen
class IssueRef:
    """The name of an issue."""

    place: str
    """`local`, `beads/shop-1a2b3c4d`, or host and repository such as `github.com/acme/shop`."""
    id: str
    """The id within that place: `12`, `shop-a3f`."""

    def __str__(self) -> str:
        return f"{self.place}#{self.id}"

    @property
    def stream(self) -> str:
        """The stream of its facts."""
        return f"{STREAM}{self}"

    @property
    def is_local(self) -> bool:
        """Whether the local tracker has it."""
        return self.place == LOCAL

    @property
    def is_hosted(self) -> bool:
        """Whether it is on a code host, and not on this machine alone."""
        return self.place != LOCAL and not is_beads(self.place)

    @property
    def knows_authors(self) -> bool:
        """Whether its tracker knows who wrote a comment; beads takes any name that its caller gives."""
        return not is_beads(self.place)


def is_beads(place: str) -> bool:
    """Whether beads has the issues of a place."""
    kind, _, key = place.partition("/")
    return kind == BEADS and "/" not in key


def parse_issue_ref(text: str) -> IssueRef | None:
    """Parse the whole name of an issue, as `str` writes it; None for anything else."""
    found = _NAME.match(text)
    return None if found is None else IssueRef(found["place"], found["id"])


@frozen(kw_only=True)
class Comment:
    """A comment on an issue or a pull request."""

    id: str
    author: str
    """The login of its author."""
    body: str
    at: float = 0.0
    edited_at: float = 0.0
    url: str = ""
    by_bot: bool = False
    is_marked: bool = False
    """Whether it carries a mark of Handrail, whoever wrote it; its body may be without the mark."""


@frozen(kw_only=True)
class Attachment:
    """A file that an issue or a comment links to."""

    name: str
    url: str
    path: str = ""
    """Where it was stored on this machine."""
    size: int = 0
    problem: str = ""
    """Why it was not downloaded."""


@frozen(kw_only=True)
class Dependency:
    """That an issue depends on another; only some kinds affect what is ready (`trackers.local.readiness`)."""

    on: str
    """The id of the other issue, in the same place."""
    kind: str = "blocks"


@frozen(kw_only=True)
class Issue:
    """An issue as its tracker shows it."""

    ref: IssueRef
    title: str
    body: str = ""
    state: Literal["open", "closed"] = "open"
    status: str = "open"
    """The tracker's own word: `open`, `in_progress`, `blocked`, `deferred`, `closed`, or a custom one."""
    labels: tuple[str, ...] = ()
    author: str = ""
    assignees: tuple[str, ...] = ()
    url: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    parent: str = ""
    """The id of the issue that it is a part of."""
    priority: int = 2
    """From 0, the most urgent, to 4."""
    kind: str = "task"
    is_locked: bool = False
    """Whether only people with write permission may comment."""
    looked: str = ""
    """Where a first look for later comments begins; empty if the tracker has to list all of them then."""

    @property
    def number(self) -> int:
        """Its number, where the tracker counts; 0 elsewhere."""
        return int(self.ref.id) if self.ref.id.isdecimal() and self.ref.id.isascii() else 0


@frozen(kw_only=True)
class IssueDraft:
    """An issue that is to be created."""

    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    parent: str = ""
    """The id of an existing issue."""
    depends_on: tuple[Dependency, ...] = ()
    """Existing issues."""
    priority: int = 2
    kind: str = "task"


@frozen(kw_only=True)
class IssueChange:
    """What to change about an issue; None leaves a field as it is."""

    title: str | None = None
    body: str | None = None
    status: str | None = None
    """A status of the tracker; `open` opens it again."""
    close: CloseReason | None = None
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    add_assignees: tuple[str, ...] = ()
    remove_assignees: tuple[str, ...] = ()
    priority: int | None = None


@frozen(kw_only=True)
class IssueFilter:
    """Which issues to list: by default the open ones, the most recently changed first."""

    state: Literal["open", "closed", "all"] = "open"
    labels: tuple[str, ...] = ()
    """All of these."""
    assignee: str = ""
    text: str = ""
    """Found in the title or the body, whatever the case."""
    limit: int = 100


@frozen(kw_only=True)
class Claim:
    """That one run or person works on an issue."""

    by: str
    """The actor: `person:ann`, or `agent:RUN` for a run."""
    at: float = 0.0
    run: str = ""
    id: str = ""
    """What the tracker calls the claim, such as the id of the comment that makes it."""
    nonce: str = ""
    """Distinguishes the claims of runs with the same name on several machines."""

    def is_same(self, other: "Claim") -> bool:
        """Whether both are the claim of the same run or person."""
        return (self.by, self.nonce) == (other.by, other.nonce)


@frozen
class ClaimResult:
    """Who has an issue now."""

    claim: Claim
    is_mine: bool


@frozen
class RepositoryRef:
    """A repository on a code host."""

    host: str
    """The host of its web pages, such as `github.com`."""
    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}"

    @property
    def full_name(self) -> str:
        """Owner and name, as the host writes them."""
        return f"{self.owner}/{self.name}"


@frozen(kw_only=True)
class Marker:
    """An invisible mark in a text that Handrail wrote, by which it is found again.

    It counts only together with our own author: anybody can copy it.
    """

    what: Literal["progress", "claim", "issue", "pull-request", "message"]
    key: str
    """Distinguishes it from all others of its kind: a run, a step, an item."""
    extra: dict[str, str] = field(default_factory=dict[str, str])


def has_mark(text: str) -> bool:
    """Whether a text contains what looks like a mark of Handrail, anywhere in it."""
    return _MARK.search(text) is not None

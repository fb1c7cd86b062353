"""What Handrail does about an issue: the facts of the stream `work:NAME`, one stream per issue, whoever tracks it.

The tracker's own facts are elsewhere: here is which runs work on the issue, which comment reports on each of them, and
which comments of people were taken up.
"""

from typing import Literal, TypeAlias

from handrail.frozen import frozen

STREAM = "work:"
"""The prefix of these streams."""
VERSION = 1
"""Version of the shape of these facts."""
CommentVerb: TypeAlias = Literal["approve", "revise", "reject", "answer", "stop"]
IssueStep: TypeAlias = Literal["claimed", "released", "blocked", "unblocked", "closed"]


@frozen(kw_only=True)
class AgentAssigned:
    """A run got its number among the agents on the issue; it is started next."""

    run: str
    number: int
    at: float
    close: bool = True
    """Whether it closes the issue if it finishes all of it, as configured when it started."""
    blocked_label: str = ""
    """The label that the issue has while the run needs a person; empty: none."""
    nonce: str = ""
    """Distinguishes its claim from those of runs with the same name on other machines."""
    once: str = ""
    """Distinguishes its start from every other one, so that a repeated one gives the same run; empty: nothing does."""
    kind: Literal["agent_assigned"] = "agent_assigned"


@frozen(kw_only=True)
class ProgressWritten:
    """The comment that reports on a run shows this text now."""

    run: str
    comment: str
    digest: str
    """Of the text."""
    at: float
    kind: Literal["progress_written"] = "progress_written"


@frozen(kw_only=True)
class StatusChanged:
    """The issue itself was changed because of a run."""

    run: str
    step: IssueStep
    at: float
    kind: Literal["status_changed"] = "status_changed"


@frozen(kw_only=True)
class CommentsSeen:
    """These comments were looked at and need nothing; the next look begins at `since`."""

    ids: tuple[str, ...]
    since: str
    at: float
    kind: Literal["comments_seen"] = "comments_seen"


@frozen(kw_only=True)
class CommentTaken:
    """A comment is about to be applied to a run."""

    comment: str
    by: str
    run: str
    verb: CommentVerb
    text: str
    asked: int
    """The event by which the run asked; 0 if the comment answers nothing."""
    at: float
    kind: Literal["comment_taken"] = "comment_taken"


@frozen(kw_only=True)
class CommentSettled:
    """A comment was applied, or refused for a reason that its author gets as a reply."""

    comment: str
    at: float
    problem: str = ""
    run: str = ""
    kind: Literal["comment_settled"] = "comment_settled"


@frozen(kw_only=True)
class ReplyWritten:
    """The author of a refused comment got a reply that says why."""

    comment: str
    at: float
    kind: Literal["reply_written"] = "reply_written"


@frozen(kw_only=True)
class ReactionsPaused:
    """Too many replies: comments on the issue are not looked at until a time."""

    until: float
    at: float
    kind: Literal["reactions_paused"] = "reactions_paused"


IssueFact: TypeAlias = (
    AgentAssigned
    | ProgressWritten
    | StatusChanged
    | CommentsSeen
    | CommentTaken
    | CommentSettled
    | ReplyWritten
    | ReactionsPaused
)

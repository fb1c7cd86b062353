"""What is wanted of a pull request, and what became of it."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue


@frozen(kw_only=True)
class PullRequestWish:
    """A pull request as a step or a command wants it."""

    step: str
    title: str
    body: str = ""
    by_person: bool = False
    """Whether a person wrote the body, so that it stays until somebody writes another one."""
    base: str = ""
    key: str = ""
    draft: bool = False
    """Whether it is opened as a draft; one that is ready for review stays ready."""
    ready: bool = False
    """Whether a draft is made ready for review."""
    back_to_draft: bool = False
    """Whether one that is ready for review is turned into a draft again."""
    auto_merge: bool = False
    """Whether the host merges it as soon as its checks and reviews allow that."""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    finishes: bool = False
    """Whether the run has done everything that its issue asks for, so that merging closes the issue."""
    again: str = ""
    """The command that continues after a person has done something."""
    accepted: bool = False
    """Whether a person accepts changed settings of git."""


@frozen(kw_only=True)
class OpenedPullRequest:
    """The pull request is open, and has everything of the run's branch."""

    number: int
    url: str
    branch: str
    commit: str
    draft: bool
    state: Literal["open", "merged", "closed"]
    created: bool
    notes: tuple[str, ...] = ()
    """What could not be done with it."""


@frozen(kw_only=True)
class LeftToPerson:
    """The branch is ready, and a person pushes it: there is no code host here that Handrail can call."""

    branch: str
    commit: str
    command: str
    summary: str


@frozen(kw_only=True)
class NeedsPerson:
    """Nothing goes on before a person has decided something; nothing is lost."""

    message: str
    next_step: str
    reason: Literal["step", "merge"] = "step"


PullRequestOutcome: TypeAlias = OpenedPullRequest | LeftToPerson | NeedsPerson


def describe_outcome(outcome: OpenedPullRequest | LeftToPerson) -> dict[str, JsonValue]:
    """Return the result of a step as later steps see it."""
    if isinstance(outcome, LeftToPerson):
        rest: dict[str, JsonValue] = {"number": 0, "url": "", "draft": False, "state": "", "command": outcome.command}
        return {**rest, "branch": outcome.branch, "commit": outcome.commit}
    names = ("number", "url", "branch", "commit", "draft", "state")
    return {**{name: getattr(outcome, name) for name in names}, "command": ""}


def summarize_outcome(found: OpenedPullRequest | LeftToPerson) -> str:
    """Describe in one line what became of a pull request."""
    if isinstance(found, LeftToPerson):
        return found.summary
    what = "opened" if found.created else "updated"
    kind = "draft pull request" if found.draft else "pull request"
    notes = "".join(f"; {each}" for each in found.notes)
    return f"{what} {kind} #{found.number}: {found.url}{notes}"

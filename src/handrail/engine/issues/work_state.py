"""Folds the facts of the work on an issue."""

from collections.abc import Iterable
from dataclasses import field, replace

from handrail.frozen import frozen
from handrail.model.history.issue_work import (
    AgentAssigned,
    CommentSettled,
    CommentsSeen,
    CommentTaken,
    IssueFact,
    IssueStep,
    ProgressWritten,
    ReactionsPaused,
    ReplyWritten,
    StatusChanged,
)


@frozen
class PostedProgress:
    """The comment that reports on a run."""

    comment: str
    digest: str
    at: float


@frozen
class WorkState:
    """What is known about the work on an issue."""

    seq: int = 0
    agents: tuple[AgentAssigned, ...] = ()
    """In order."""
    progress: dict[str, PostedProgress] = field(default_factory=dict[str, PostedProgress])
    """By run."""
    steps: dict[str, IssueStep] = field(default_factory=dict[str, IssueStep])
    """The latest change of the issue that each run caused."""
    seen: frozenset[str] = frozenset()
    """Comments that are never looked at again."""
    since: str = ""
    taken: tuple[CommentTaken, ...] = ()
    """Comments that were taken up and not settled: their process may have died."""
    unanswered: tuple[CommentSettled, ...] = ()
    """Refused comments whose authors have no reply yet."""
    replies: tuple[float, ...] = ()
    """When replies were written."""
    paused_until: float = 0.0

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that were assigned to the issue, in order."""
        return tuple(each.run for each in self.agents)

    def agent(self, run: str) -> AgentAssigned | None:
        """Return how a run was assigned."""
        return next((each for each in self.agents if each.run == run), None)


def fold_work(facts: Iterable[IssueFact], state: WorkState | None = None) -> WorkState:
    """Fold facts in their order."""
    state = state or WorkState()
    for fact in facts:
        state = replace(_apply(state, fact), seq=state.seq + 1)
    return state


def _apply(state: WorkState, fact: IssueFact) -> WorkState:
    match fact:
        case AgentAssigned():
            return replace(state, agents=(*state.agents, fact))
        case ProgressWritten():
            posted = PostedProgress(fact.comment, fact.digest, fact.at)
            return replace(state, progress={**state.progress, fact.run: posted})
        case StatusChanged():
            return replace(state, steps={**state.steps, fact.run: fact.step})
        case CommentsSeen():
            return replace(state, seen=state.seen.union(fact.ids), since=fact.since or state.since)
        case _:
            return _apply_reaction(state, fact)


def _apply_reaction(
    state: WorkState, fact: CommentTaken | CommentSettled | ReplyWritten | ReactionsPaused
) -> WorkState:
    match fact:
        case CommentTaken():
            return replace(state, taken=(*state.taken, fact))
        case CommentSettled():
            return _settle(state, fact)
        case ReplyWritten():
            left = tuple(each for each in state.unanswered if each.comment != fact.comment)
            return replace(state, unanswered=left, replies=(*state.replies, fact.at))
        case ReactionsPaused():
            return replace(state, paused_until=fact.until)


def _settle(state: WorkState, fact: CommentSettled) -> WorkState:
    taken = tuple(each for each in state.taken if each.comment != fact.comment)
    refused = (fact,) if fact.problem else ()
    return replace(state, taken=taken, unanswered=(*state.unanswered, *refused), seen=state.seen.union((fact.comment,)))

"""What a program learns about a run: frozen values, and how they are read from the log."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Literal, TypeAlias, cast

from handrail.frozen import frozen
from handrail.model.history.events import RunStatus
from handrail.model.history.spending import Spending
from handrail.model.pull_requests import PullRequestStatus
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.overview import RunRow
from handrail.operations.views.pull_requests import find_pull_requests
from handrail.operations.views.questions import NeedKind, RunNeed, describe_interruption, find_need
from handrail.operations.views.run_document import outputs_of, state_of, summary_document
from handrail.ports.log import Log

__all__ = [
    "Drive",
    "Finished",
    "InputValue",
    "NeedKind",
    "NeedsPerson",
    "PullRequest",
    "RunLine",
    "RunListState",
    "RunResult",
    "RunState",
    "convert_row",
    "read_result",
    "read_state",
]
Drive: TypeAlias = Literal["here", "background"]
"""Which process drives a run: this one, or the background driver."""
InputValue: TypeAlias = "str | int | float | bool | Sequence[InputValue] | Mapping[str, InputValue] | None"
"""A value of an input: what JSON can express."""
EndStatus: TypeAlias = Literal["succeeded", "failed", "cancelled"]
RunListState: TypeAlias = Literal[
    "needs-you", "paused", "waiting", "running", "ended", "succeeded", "failed", "cancelled"
]
"""The states by which runs can be listed."""
ENDED: tuple[RunStatus, ...] = ("succeeded", "failed", "cancelled")


@frozen(kw_only=True)
class PullRequest:
    """A pull request of a run, as the log knows it."""

    number: int
    url: str
    status: PullRequestStatus
    draft: bool
    title: str
    branch: str
    base: str


@frozen(kw_only=True)
class NeedsPerson:
    """The run does not continue on its own: it asks a person, is blocked or paused, or no process drives it."""

    run: str
    """The run that needs it: the one that was asked about, or one that it started."""
    kind: NeedKind
    step: str
    message: str
    """What is asked or what is wrong, as a workflow, an agent or Handrail says it."""
    next_step: str
    """What a person may do about it, usually a command."""
    answers: tuple[str, ...] = ()
    """The possible decisions on an approval: approve, revise, reject."""
    show: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The values that an approval shows."""


@frozen(kw_only=True)
class Finished:
    """The run is over."""

    run: str
    status: EndStatus
    message: str
    """Why it failed or was stopped, or what its workflow says at the end."""
    outputs: dict[str, JsonValue]
    """The named outputs of its steps."""
    cost: Spending
    """What its agents spent, the runs that it started included."""
    branch: str | None
    """The branch with its work; None if it has no worktree of its own."""
    worktree: str | None
    pull_requests: tuple[PullRequest, ...] = ()

    @property
    def is_success(self) -> bool:
        """Whether it succeeded."""
        return self.status == "succeeded"


RunResult: TypeAlias = Finished | NeedsPerson
"""What came of a run, or what it needs from a person before it can go on."""


@frozen(kw_only=True)
class RunState:
    """A run at one moment."""

    run: str
    workflow: str
    status: RunStatus
    reason: str | None
    """Why it waits, is blocked or was cancelled."""
    step: str
    """The address of the step that is in progress or waits; empty if there is none."""
    need: NeedsPerson | None
    """What it needs from somebody."""
    outputs: dict[str, JsonValue]
    branch: str | None
    worktree: str | None
    issue: str | None
    parent: str | None
    """The run that started it."""
    started_at: datetime
    ended_at: datetime | None
    pull_requests: tuple[PullRequest, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status in ENDED


@frozen(kw_only=True)
class RunLine:
    """One run in a list."""

    run: str
    state: RunListState
    status: str
    step: str
    message: str
    next_step: str
    """The command with which a person continues; empty if there is none."""
    started_at: datetime


def read_state(log: Log, run: str) -> RunState:
    """Read the present state of a run."""
    document = summary_document(log, run)
    need = find_need(log, run)
    return RunState(
        run=run,
        workflow=str(document["workflow"]),
        status=cast("RunStatus", document["status"]),
        reason=_text(document["reason"]),
        step=str(document["current_step"] or ""),
        need=None if need is None else _convert_need(need),
        outputs=cast("dict[str, JsonValue]", document["outputs"]),
        branch=_text(document["branch"]),
        worktree=_text(document["worktree"]),
        issue=_text(document.get("issue")),
        parent=_text(document["parent"]),
        started_at=_time(document["started_at"]) or datetime.fromtimestamp(0, UTC),
        ended_at=_time(document["completed_at"]),
        pull_requests=_list_pull_requests(log, run),
    )


def read_result(log: Log, run: str) -> RunResult:
    """Read what came of a run that has come to rest."""
    state = state_of(log, run)
    if state.status not in ENDED:
        return _convert_need(find_need(log, run) or describe_interruption(log, run))
    document = summary_document(log, run)
    return Finished(
        run=run,
        status=cast("EndStatus", state.status),
        message=state.message,
        outputs=outputs_of(state),
        cost=state.spent,
        branch=_text(document["branch"]),
        worktree=_text(document["worktree"]),
        pull_requests=_list_pull_requests(log, run),
    )


def convert_row(row: RunRow) -> RunLine:
    """Convert a row of the list that people see."""
    return RunLine(
        run=row.run,
        state=cast("RunListState", row.section.replace(" ", "-")),
        status=row.status,
        step=row.step,
        message=row.words,
        next_step=row.next_step,
        started_at=datetime.fromtimestamp(row.started_at, UTC),
    )


def _convert_need(need: RunNeed) -> NeedsPerson:
    return NeedsPerson(
        run=need.run,
        kind=need.kind,
        step=need.step,
        message=need.message,
        next_step=need.next_step,
        answers=need.answers,
        show=need.show,
    )


def _list_pull_requests(log: Log, run: str) -> tuple[PullRequest, ...]:
    return tuple(
        PullRequest(
            number=each.number,
            url=each.url,
            status=each.status,
            draft=each.draft,
            title=each.title,
            branch=each.head,
            base=each.base,
        )
        for each in find_pull_requests(log, run)
    )


def _text(value: JsonValue) -> str | None:
    return str(value) if value else None


def _time(value: JsonValue) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None

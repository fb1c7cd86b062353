"""The events of a run as programs see them: a small closed union, with everything else as `Happened`.

Texts in events come from workflows, agents, commands and issues: whoever shows them on a terminal escapes control
characters, and nobody executes them. Secrets are removed before an event is stored.
"""

from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, cast

from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.spending import Spending
from handrail.model.workflow.values import JsonValue
from handrail.operations.driving.drive import RunEvent as StoredEvent
from handrail.operations.views.event_sentences import (
    address_of,
    agent_call_in,
    agent_words,
    event_sentence,
    spending_in,
)
from handrail.operations.views.history import event_data


@frozen(kw_only=True)
class EventPlace:
    """What every event has: where and when it happened."""

    position: int
    """Its place among all events; `run.events(after=...)` continues behind it."""
    run: str
    """The run in which it happened: the one that is followed, or one that it started."""
    inner: bool
    """Whether that is a run that the followed one started."""
    step: str
    """The address of the step that it is about; empty if it is about the run."""
    at: datetime


@frozen(kw_only=True)
class RunStarted(EventPlace):
    """A run was created."""

    workflow: str
    task: str
    by: str
    """Who started it, such as `person:ann`."""


@frozen(kw_only=True)
class StepStarted(EventPlace):
    """A step began, for the first time or again."""

    attempt: int
    agent: str
    """The agent that performs it, such as `claude/sonnet`; empty for a command."""


@frozen(kw_only=True)
class StepEnded(EventPlace):
    """A try of a step ended."""

    status: Literal["succeeded", "failed"]
    output: JsonValue
    error: str
    cost: Spending
    """What its agent spent."""


@frozen(kw_only=True)
class ApprovalRequested(EventPlace):
    """A person was asked to approve, revise or reject."""

    message: str
    show: dict[str, JsonValue]


@frozen(kw_only=True)
class QuestionAsked(EventPlace):
    """An agent asked a person a question."""

    question: str


@frozen(kw_only=True)
class Answered(EventPlace):
    """A person decided on an approval or answered a question."""

    decision: Literal["approve", "revise", "reject", "answer"]
    text: str
    by: str


@frozen(kw_only=True)
class RunWaiting(EventPlace):
    """The run waits: for a person, for a time, or since it was paused."""

    reason: str
    message: str
    until: datetime | None


@frozen(kw_only=True)
class RunBlocked(EventPlace):
    """The run cannot continue without a person."""

    reason: str
    message: str
    next_step: str


@frozen(kw_only=True)
class RunEnded(EventPlace):
    """A run is over."""

    status: Literal["succeeded", "failed", "cancelled"]
    message: str


@frozen(kw_only=True)
class Happened(EventPlace):
    """Any other event."""

    kind: str
    """The kind of the event in the log."""
    text: str
    """What happened, for people; empty if there is no sentence for it."""
    data: dict[str, JsonValue]
    """The event as `handrail logs --json` shows it."""


RunEvent: TypeAlias = (
    RunStarted
    | StepStarted
    | StepEnded
    | ApprovalRequested
    | QuestionAsked
    | Answered
    | RunWaiting
    | RunBlocked
    | RunEnded
    | Happened
)
"""Everything that `run.events()` yields."""


def convert_event(stored: StoredEvent) -> RunEvent:
    """Convert an event of the log."""
    event = stored.event
    address = address_of(event)
    where: dict[str, Any] = {
        "position": stored.position,
        "run": stored.run,
        "inner": stored.inner,
        "step": f"{stored.via}{address}" if address else "",
        "at": _time(event.at),
    }
    match event:
        case ev.RunStarted():
            return RunStarted(**where, workflow=event.workflow, task=event.task, by=event.by)
        case ev.RunEnded():
            return RunEnded(**where, status=event.status, message=event.message)
        case ev.RunWaits():
            until = None if event.until is None else _time(event.until)
            return RunWaiting(**where, reason=event.reason, message=event.message, until=until)
        case ev.RunBlocked():
            return RunBlocked(**where, reason=event.reason, message=event.message, next_step=event.next_step)
        case _:
            return _convert_step_event(stored, where)


def _convert_step_event(stored: StoredEvent, where: dict[str, Any]) -> RunEvent:
    """Convert an event of a step, or any other."""
    event = stored.event
    match event:
        case ev.StepBegan():
            call = agent_call_in(event)
            return StepStarted(**where, attempt=event.attempt, agent="" if call is None else agent_words(call))
        case ev.StepEnded():
            spent = spending_in(event) or Spending()
            return StepEnded(**where, status=event.status, output=event.output, error=event.error, cost=spent)
        case ev.ApprovalRequested():
            return ApprovalRequested(**where, message=event.message, show=event.show)
        case ev.QuestionAsked():
            return QuestionAsked(**where, question=event.question)
        case ev.ApprovalDecided():
            return Answered(**where, decision=event.decision, text=event.feedback, by=event.by)
        case ev.QuestionAnswered():
            return Answered(**where, decision="answer", text=event.answer, by=event.by)
        case _:
            data = cast("dict[str, JsonValue]", event_data(stored.seq, event))
            return Happened(**where, kind=event.kind, text=event_sentence(event) or "", data=data)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

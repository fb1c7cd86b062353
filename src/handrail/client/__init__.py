"""Runs for Python programs: `async with handrail.open() as client`; every public name is exported here."""

from handrail.client.client import Client, StartOptions
from handrail.client.events import (
    Answered,
    ApprovalRequested,
    Happened,
    QuestionAsked,
    RunBlocked,
    RunEnded,
    RunEvent,
    RunStarted,
    RunWaiting,
    StepEnded,
    StepStarted,
)
from handrail.client.open_client import open_client
from handrail.client.run import Run
from handrail.client.values import (
    Drive,
    Finished,
    InputValue,
    NeedKind,
    NeedsPerson,
    PullRequest,
    RunLine,
    RunListState,
    RunResult,
    RunState,
)
from handrail.model.history.events import RunStatus
from handrail.model.history.spending import Spending

__all__ = [
    "Answered",
    "ApprovalRequested",
    "Client",
    "Drive",
    "Finished",
    "Happened",
    "InputValue",
    "NeedKind",
    "NeedsPerson",
    "PullRequest",
    "QuestionAsked",
    "Run",
    "RunBlocked",
    "RunEnded",
    "RunEvent",
    "RunLine",
    "RunListState",
    "RunResult",
    "RunStarted",
    "RunState",
    "RunStatus",
    "RunWaiting",
    "Spending",
    "StartOptions",
    "StepEnded",
    "StepStarted",
    "open_client",
]

"""A machine in memory with a tracker in memory, on which runs work on issues."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from handrail.model.issues import Issue, IssueRef
from handrail.model.workflow.actions import ApprovalAction, Checks, EndAction, GateAction, NamedCommand, ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import Command, Constant
from handrail.operations.driving.drive import RunClaim
from handrail.operations.issue_runs.assign_agent import StatusRules
from handrail.operations.issue_runs.conversation import Conversation
from handrail.operations.issue_runs.issue_record import build_record
from handrail.operations.issue_runs.start_on_issue import IssueDesk
from handrail.operations.runs.lifecycle import Request
from handrail.ports.trackers import Tracker, TrackerCatalog
from handrail.runtime.ports import PinnedWorkflow
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.service import MemoryService
from support.runtime.memory_room import MemoryRoom

PLACE = "github.com/acme/shop"
ASKS = Plan(
    name="asks",
    steps=(
        Step(name="draft", action=ScriptAction(Command("echo draft")), output="text", on_fail="continue"),
        Step(name="ok", action=ApprovalAction(message=Constant("Is it good?"), revise="draft")),
        Step(name="ship", action=ScriptAction(Command("echo shipped")), on_fail="continue"),
    ),
)
PLAIN = Plan(name="plain", steps=(Step(name="only", action=ScriptAction(Command("echo x")), on_fail="continue"),))
WELL = Plan(name="well", steps=(Step(name="end", action=EndAction(status="succeeded")),))
STUCK = Plan(
    name="stuck",
    steps=(
        Step(name="no", action=GateAction(checks=Checks(commands=(NamedCommand("c", Command("false")),)))),
        Step(name="end", action=EndAction(status="succeeded")),
    ),
)
"""Blocks unless the machine in memory lets its check pass."""
T = TypeVar("T")


def ref_of(number: int | str = 12, place: str = PLACE) -> IssueRef:
    return IssueRef(place, str(number))


@dataclass
class IssueRoom:
    """A room in memory with issues; `ann` and `bob` have write permission, `eve` has not."""

    room: MemoryRoom
    folder: Path
    service: MemoryService = field(default_factory=MemoryService)
    problems: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.service.clock = self.room.clock
        self.service.permissions.update(ann="write", bob="write", eve="read")
        self.service.bots.add("ci[bot]")
        self.trackers: TrackerCatalog = MemoryTrackers(self.service)

    @property
    def desk(self) -> IssueDesk:
        return IssueDesk(self.room.writer, self.trackers, self.folder)

    def issue(self, number: int | str = 12, title: str = "It crashes", **fields: Any) -> Issue:
        return self.service.add_issue(ref_of(number), title, **fields)

    def start(self, issue: Issue, plan: Plan = ASKS, *, alone: bool = False, rules: StatusRules | None = None) -> str:
        desk = self.desk if rules is None else IssueDesk(self.room.writer, self.trackers, self.folder, rules)
        claim = RunClaim(self.room.log, "test")
        whole = self.do(desk.read(issue.ref))
        inputs: dict[str, Any] = {"issue": build_record(whole, self.room.writer.redactor)}
        request = Request(PinnedWorkflow(plan, "sha256:0"), "/w", inputs)
        try:
            return self.do(desk.start(whole, request, claim, alone=alone))
        finally:
            claim.free()

    def talk(self, **changes: Any) -> Conversation:
        made = Conversation(self.room.writer, self.trackers, self.room.clock, on_problem=self.problems.append)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def look(self, *, refresh: bool = True) -> Conversation:
        """Drive, bring the issues up to date as a new process would, take up comments, and drive again."""
        self.room.drive()
        made = self.talk()
        self.do(made.look(final=True, refresh=refresh))
        self.room.drive()
        self.do(made.look(final=True))
        return made

    def comments(self, ref: IssueRef | None = None) -> list[tuple[str, str]]:
        return [(each.comment.author, each.comment.body) for each in self.service.issue(ref or ref_of()).comments]

    def progress(self, run: str, ref: IssueRef | None = None) -> list[str]:
        stored = self.service.issue(ref or ref_of()).comments
        return [each.comment.body for each in stored if each.marker is not None and each.marker.key == run]

    def do(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(call)


class OneTracker(MemoryTrackers):
    """A catalog with one real tracker, for every place and run."""

    def __init__(self, tracker: Tracker) -> None:
        super().__init__()
        self._tracker = tracker

    def tracker(self, place: str, run: str = "") -> Any:  # noqa: ARG002 -- there is only one
        """Return the tracker."""
        return self._tracker


def make_room(folder: Path, on_point: Callable[[str], None] | None = None) -> IssueRoom:
    return IssueRoom(MemoryRoom(on_point=on_point), folder)

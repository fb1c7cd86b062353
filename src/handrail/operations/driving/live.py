"""What a run and its child runs are doing right now, updated event by event.

Nothing here folds a history: each event is processed once, and a refresh looks only at what is in progress.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

from handrail.engine.fold.step_tools import progress_words
from handrail.engine.state.agent_calls import call_of
from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.spending import Spending
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import GateAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue
from handrail.operations.driving.drive import RunEvent
from handrail.operations.views.costs import add_spending
from handrail.operations.views.event_sentences import agent_words, spending_in

ENDS = frozenset(
    {"step_ended", "question_asked", "run_blocked", "run_waits", "run_ended", "run_rewound", "retry_scheduled"}
    | {"approval_requested", "work_left", "workspace_ready", "run_queued"}
)
TREE = "worktree"
"""Stands in for an address while a worktree is created and set up."""
NOTHING = Spending()
_PLACES = re.compile(r"@\d+|#\d+(?=[/@]|$)|\[[^\]]*\]")


@frozen
class StepActivity:
    """A step that is being performed."""

    run: str
    seq: int
    address: str
    """Relative to the run that is watched."""
    who: str
    """Who performs it, `claude/sonnet`; empty for a command."""
    says: str
    """The command that runs."""
    attempt: int
    attempts: int
    """The maximum number of tries; 0 if unknown."""
    began: float
    agent: str | None = None
    reports: str = ""
    """The last progress that its agent reported."""


@frozen
class TimedWait:
    """A step that waits for a time."""

    address: str
    until: float
    quota: bool


@dataclass(slots=True)
class Activity:
    """The steps in progress, the times that are waited for, and the total cost so far."""

    plan: Callable[[str], Plan]
    """Returns a pinned plan by its digest."""
    spent: Spending = NOTHING
    _efforts: dict[str, StepActivity] = field(default_factory=dict[str, StepActivity])
    _breaks: dict[str, TimedWait] = field(default_factory=dict[str, TimedWait])
    _last: dict[str, StepActivity] = field(default_factory=dict[str, StepActivity])
    _called: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _plans: dict[str, str] = field(default_factory=dict[str, str])
    _queued: dict[str, StepActivity | None] = field(default_factory=dict[str, StepActivity | None])
    """The queued runs, each with the effort that it starts with when it is admitted."""

    @property
    def is_queued(self) -> bool:
        """Whether something waits for its turn."""
        return bool(self._queued)

    @property
    def efforts(self) -> tuple[StepActivity, ...]:
        """The steps in progress, the oldest first; a run performs one at a time."""
        return tuple(sorted(self._efforts.values(), key=lambda each: each.began))

    @property
    def breaks(self) -> tuple[TimedWait, ...]:
        """The waits for a time, the soonest first."""
        return tuple(sorted(self._breaks.values(), key=lambda each: each.until))

    def last(self, run: str) -> StepActivity | None:
        """Return the current or last effort of one run."""
        return self._last.get(run)

    def fixes(self, run: str, address: str) -> int:
        """Return the maximum number of fixes of a gate."""
        digest = self._plans.get(run)
        return 0 if digest is None else _fixes(self.plan(digest), address)

    def see(self, happened: RunEvent) -> None:
        """Process one event."""
        event, run = happened.event, happened.run
        if isinstance(event, ev.ClockNoted):
            self._move(run, event.by)
            return
        self._breaks.pop(run, None)
        self._count(run, event)
        effort = self._efforts.pop(run, None) if event.kind in ENDS else None
        self._queue(run, event, effort)
        match event:
            case ev.RunStarted():
                self._record_run_start(happened, event)
            case ev.StepBegan():
                self._efforts[run] = self._last[run] = self._effort(happened, event)
            case ev.StepRefused() if run in self._last and event.details.get("agent"):
                again = replace(self._last[run], seq=happened.seq, attempt=self._last[run].attempt + 1, began=event.at)
                self._efforts[run] = self._last[run] = again
            case ev.ToolCalled():
                if event.tool == "report_progress" and event.success and run in self._efforts:
                    self._efforts[run] = replace(self._efforts[run], reports=progress_words(event.arguments))
            case ev.RetryScheduled():
                self._breaks[run] = TimedWait(f"{happened.via}{event.address}", event.due, event.reason == "quota")
            case _:
                pass

    def _count(self, run: str, event: ev.Event) -> None:
        if isinstance(event, ev.ChildStarted):
            self._called.add((run, event.address))
        elif isinstance(event, ev.StepEnded) and (run, event.address) in self._called:
            # What the run of a call spent was counted there.
            self._called.discard((run, event.address))
        elif isinstance(event, ev.StepEnded | ev.StepRefused | ev.QuestionAsked):
            self.spent = add_spending(self.spent, spending_in(event) or Spending())

    def _move(self, run: str, by: float) -> None:
        """Shift recorded times after the clock was changed; a usage limit ends at the time of day that was reported."""
        if run in self._breaks and not self._breaks[run].quota:
            self._breaks[run] = replace(self._breaks[run], until=self._breaks[run].until + by)
        for kept in (self._efforts, self._last):
            if run in kept:
                kept[run] = replace(kept[run], began=kept[run].began + by)

    def _record_run_start(self, happened: RunEvent, event: ev.RunStarted) -> None:
        """Record that a run began, which may have to create a worktree first."""
        run = happened.run
        self._plans[run] = event.plan
        if event.source is not None:
            where = event.prefix.removesuffix("/") or TREE
            setup = " && ".join(event.source.setup)
            self._efforts[run] = StepActivity(run, happened.seq, f"{happened.via}{where}", "", setup, 1, 0, event.at)

    def _queue(self, run: str, event: ev.Event, effort: StepActivity | None) -> None:
        """Record that a run enters the queue, with what it was about to do, or leaves it."""
        if isinstance(event, ev.RunQueued):
            self._queued[run] = effort
        elif run in self._queued and isinstance(event, ev.RunAdmitted | ev.RunWaits | ev.RunEnded):
            first = self._queued.pop(run)
            if first is not None and isinstance(event, ev.RunAdmitted):
                self._efforts[run] = replace(first, began=event.at)

    def _effort(self, happened: RunEvent, event: ev.StepBegan) -> StepActivity:
        call = call_of(event)
        agent = None if call is None else call.get("agent")
        digest = self._plans.get(happened.run)
        return StepActivity(
            happened.run,
            happened.seq,
            f"{happened.via}{event.address}",
            "" if call is None else agent_words(call),
            _command(event.spec) if call is None else "",
            event.attempt,
            0 if digest is None or event.attempt < 2 else tries(self.plan(digest), event.address),
            event.at,
            str(agent) if agent else None,
        )


def tries(plan: Plan, address: str) -> int:
    """Return the maximum number of tries of the step at an address; 0 if the plan does not say."""
    plain = _PLACES.sub("", address)
    fixes = _fixes(plan, plain.removesuffix("/fix"))
    if fixes:
        return fixes if plain.endswith("/fix") else fixes + 1
    step = _step(dict(walk_steps(plan.steps)), plain)
    return 0 if step is None else step.retry.more + 1


def _fixes(plan: Plan, address: str) -> int:
    """Return the maximum number of fixes of the gate at an address; 0 if there is no gate."""
    step = _step(dict(walk_steps(plan.steps)), _PLACES.sub("", address))
    action = None if step is None else step.action
    return action.fix.max if isinstance(action, GateAction) and action.fix is not None else 0


def _step(known: dict[str, Step], address: str) -> Step | None:
    """Find a step; an item's own plan does not know the steps around it."""
    return known.get(address) or known.get(address.rpartition("/")[2])


def _command(spec: dict[str, JsonValue]) -> str:
    """Summarize what a step runs: the first line of its command, or the names of its checks."""
    commands = cast("list[dict[str, JsonValue]]", spec.get("commands") or [])
    if len(commands) == 1:
        return str(commands[0].get("script", "")).strip().partition("\n")[0]
    return ", ".join(str(each.get("name", "")) for each in commands)

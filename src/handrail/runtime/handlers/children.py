"""Starts the child run of a `workflow` step; starting it again finds the one that was started, and how it ended."""

from dataclasses import dataclass

import rfc8785

from handrail.errors import HandrailError, NotFound, VersionConflict
from handrail.model.codec import encode
from handrail.model.events import ChildStarted, Parent, RunStarted, StepEnded
from handrail.model.run import Pending, RunState
from handrail.model.values import JsonValue
from handrail.ports.log import Log
from handrail.runtime.histories import beginning, state_of
from handrail.runtime.ports import Clock, Workflows

OVER = frozenset({"succeeded", "failed", "cancelled"})


def is_over(log: Log, run: str) -> bool:
    """Tell whether a run has come to an end."""
    return state_of(log, run).status in OVER


def outcome_of(log: Log, pending: Pending, now: float) -> StepEnded | None:
    """Give the outcome of a step whose child run is over; None while it is not."""
    try:
        child = state_of(log, pending.child)
    except NotFound:
        return None
    if child.status not in OVER:
        return None
    good = child.status == "succeeded"
    return StepEnded(
        address=pending.address,
        began=pending.seq,
        status="succeeded" if good else "failed",
        output=dict(child.names.items()),
        error="" if good else f"run {child.run} {child.status}: {child.message}",
        at=now,
    )


@dataclass(frozen=True, slots=True)
class ChildHandler:
    """Performs calls of other workflows."""

    log: Log
    workflows: Workflows
    clock: Clock

    def perform(self, state: RunState, pending: Pending, began: ChildStarted) -> StepEnded | None:
        """Bring the child into being; None while it runs, an outcome when it is over or cannot be started."""
        if self.log.last(began.child).seq:
            return outcome_of(self.log, pending, self.clock())
        try:
            pinned = self.workflows(began.workflow, state.workspace)
        except HandrailError as error:
            return StepEnded(
                address=pending.address, began=pending.seq, status="failed", error=error.message, at=self.clock()
            )
        inputs: dict[str, JsonValue] = {each.name: each.default for each in pinned.plan.inputs if not each.required}
        plan = rfc8785.dumps(encode(pinned.plan))
        started = RunStarted(
            run=began.child,
            workflow=pinned.plan.name,
            definition=pinned.definition,
            plan=self.log.put_blob(plan),
            inputs={**inputs, **began.inputs},
            workspace=state.workspace,
            checks=state.checks,
            parent=Parent(state.run, pending.address, pending.seq),
            at=self.clock(),
        )
        try:
            self.log.append([beginning(self.log, began.child, started)], [])
        except VersionConflict:
            # Whoever held the lease before us was a moment ahead: it is the same child.
            return None
        return None

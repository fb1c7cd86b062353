"""Starts the child run of a `workflow` step; starting it again finds the one that was started."""

from dataclasses import dataclass

import rfc8785

from handrail.errors import HandrailError, VersionConflict
from handrail.model.codec import encode
from handrail.model.events import ChildStarted, Parent, RunStarted, StepEnded
from handrail.model.run import Pending, RunState
from handrail.model.values import JsonValue
from handrail.ports.log import Log
from handrail.runtime.histories import beginning
from handrail.runtime.ports import Clock, Workflows


@dataclass(frozen=True, slots=True)
class ChildHandler:
    """Performs calls of other workflows."""

    log: Log
    workflows: Workflows
    clock: Clock

    def perform(self, state: RunState, pending: Pending, began: ChildStarted) -> StepEnded | None:
        """Bring the child into being; None when it runs, an outcome when it cannot be started."""
        if self.log.last(began.child).seq:
            return None
        try:
            pinned = self.workflows(began.workflow)
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
            return None
        return None

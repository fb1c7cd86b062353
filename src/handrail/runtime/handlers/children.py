"""Starts the child run of a `workflow` step; starting it again finds the one that was started, and how it ended."""

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import rfc8785

from handrail.engine.state.budgets import around_children, left_for_children
from handrail.engine.state.position import current
from handrail.errors import HandrailError, NotFound, VersionConflict
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.codec import encode
from handrail.model.history.events import ChildStarted, Parent, RunStarted, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.runtime.history import beginning, plan_of, state_of
from handrail.runtime.ports import Clock, Workflows

if TYPE_CHECKING:
    from handrail.engine.state import run_outputs
else:
    run_outputs = late_import("handrail.engine.state.run_outputs")

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
        output=run_outputs.results_of(plan_of(log, child.plan), child),
        error="" if good else f"run {child.run} {child.status}: {child.message}",
        details={"spent": cast("JsonValue", asdict(child.spent)), **_files(child)},
        at=now,
    )


def _files(child: RunState) -> dict[str, JsonValue]:
    """It works in the tree of its caller, which stands now where the child left it."""
    return {"snapshot": child.snapshot, "files": child.files} if child.tree is not None and child.snapshot else {}


@frozen
class ChildHandler:
    """Performs calls of other workflows."""

    log: Log
    environments: RunEnvironments
    workflows: Workflows
    clock: Clock

    def perform(self, state: RunState, pending: Pending, began: ChildStarted) -> StepEnded | None:
        """Bring the child into being; None while it runs, an outcome when it is over or cannot be started."""
        if self.log.last(began.child).seq:
            return outcome_of(self.log, pending, self.clock())
        try:
            # Found and trusted in the user's checkout: what an agent writes into a work tree is no workflow of ours.
            pinned = self.workflows(began.workflow, state.workspace if state.tree is None else state.tree.repository)
        except HandrailError as error:
            return StepEnded(
                address=pending.address, began=pending.seq, status="failed", error=error.message, at=self.clock()
            )
        inputs: dict[str, JsonValue] = {each.name: each.default for each in pinned.plan.inputs if not each.required}
        plan, around = rfc8785.dumps(encode(pinned.plan)), plan_of(self.log, state.plan)
        step = None if state.flow is not None else current(around, state)[0]
        started = RunStarted(
            run=began.child,
            workflow=pinned.plan.name,
            definition=pinned.definition,
            plan=self.log.put_blob(plan),
            inputs={**inputs, **began.inputs},
            workspace=state.workspace,
            tree=state.tree,
            agent=state.agent,
            agents=state.agents,
            script=state.script,
            pass_env=state.pass_env,
            task=state.task,
            allowance=left_for_children(around, state, step, pending.address),
            around=around_children(around, state, step),
            checks=state.checks,
            parent=Parent(state.run, pending.address, pending.seq),
            at=self.clock(),
        )
        redactor = self.environments.for_run(state.run).redactor
        try:
            self.log.append([beginning(self.log, redactor, began.child, started)], [])
        except VersionConflict:
            # Whoever held the lease before us was a moment ahead: it is the same child.
            return None
        return None

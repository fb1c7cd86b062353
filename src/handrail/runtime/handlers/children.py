"""Starts the child run of a `workflow` step; doing so again finds the child that was started, and its outcome."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from handrail.engine.state.budgets import enclosing_budget, remaining_budget
from handrail.engine.state.position import find_current_step
from handrail.errors import HandrailError, NotFound, VersionConflict
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.codec import encode
from handrail.model.history.events import Admission, ChildStarted, Parent, RunStarted, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.actions import DynamicAction
from handrail.model.workflow.plan import fill_project_values
from handrail.model.workflow.values import JsonValue
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.runtime.history import build_first_append, encode_plan, find_pinned_call, plan_of, put_calls, state_of
from handrail.runtime.ports import Clock, PinnedWorkflow, Workflows
from handrail.runtime.run_writer import RunWriter

if TYPE_CHECKING:
    from handrail.engine.state import admission, call_scope, run_outputs
else:
    admission = late_import("handrail.engine.state.admission")
    call_scope = late_import("handrail.engine.state.call_scope")
    run_outputs = late_import("handrail.engine.state.run_outputs")

OVER = frozenset({"succeeded", "failed", "cancelled"})


def is_over(log: Log, run: str) -> bool:
    """Whether a run is over."""
    return state_of(log, run).status in OVER


def find_ended_child(log: Log, pending: Pending) -> RunState | None:
    """Return the child run of a step once it is over; None while it is not."""
    try:
        child = state_of(log, pending.child)
    except NotFound:
        return None
    return child if child.status in OVER else None


def outcome_of(log: Log, pending: Pending, child: RunState, now: float) -> StepEnded:
    """Build the outcome of a step from its child run, which is over."""
    good = child.status == "succeeded"
    if child.stack[0].prefix:
        return _outcome_of_call(pending, child, now)
    return StepEnded(
        address=pending.address,
        began=pending.seq,
        status="succeeded" if good else "failed",
        output=run_outputs.results_of(plan_of(log, child.plan), child),
        error="" if good else f"run {child.run} {child.status}: {child.message}",
        details={"spent": cast("JsonValue", asdict(child.spent)), **_files(child)},
        at=now,
    )


def _outcome_of_call(pending: Pending, child: RunState, now: float) -> StepEnded:
    """Build the outcome of a flow's call, which is that of the one step of its run."""
    step = child.steps.get(pending.address)
    good = child.status == "succeeded" and step is not None and step.status == "succeeded"
    said = child.message or "its step did not run"
    return StepEnded(
        address=pending.address,
        began=pending.seq,
        status="succeeded" if good else "failed",
        output=None if step is None else step.output,
        exit_code=None if step is None else step.exit_code,
        stdout="" if step is None else step.stdout,
        stderr="" if step is None else step.stderr,
        error="" if good else (step.error if step is not None else "") or said,
        details={
            "spent": cast("JsonValue", asdict(child.spent)),
            **call_scope.record_of_call(child, step),
            **_files(child),
        },
        at=now,
    )


def _files(child: RunState) -> dict[str, JsonValue]:
    """Return where the child left the files: it works in the worktree of its caller."""
    return {"snapshot": child.snapshot, "files": child.files} if child.tree is not None and child.snapshot else {}


def _start_failure(pending: Pending, error: HandrailError, now: float) -> StepEnded:
    return StepEnded(address=pending.address, began=pending.seq, status="failed", error=error.message, at=now)


@frozen
class ChildHandler:
    """Performs steps that call other workflows."""

    log: Log
    environments: RunEnvironments
    workflows: Workflows
    clock: Clock

    def perform(self, state: RunState, pending: Pending, began: ChildStarted) -> StepEnded | None:
        """Start the child; None while it runs, an outcome when it is over or cannot be started."""
        if self.log.last(began.child).seq:
            self._release(state, pending)
            ended = find_ended_child(self.log, pending)
            return None if ended is None else outcome_of(self.log, pending, ended, self.clock())
        try:
            called = self._find_called_workflow(state, began)
        except HandrailError as error:
            return _start_failure(pending, error, self.clock())
        plan, around = plan_of(self.log, called.plan), plan_of(self.log, state.plan)
        inputs: dict[str, JsonValue] = {each.name: each.default for each in plan.inputs if not each.required}
        step = None if state.flow is not None else find_current_step(around, state)[0]
        started = RunStarted(
            run=began.child,
            workflow=state.workflow if began.plan else plan.name,
            definition=called.definition,
            plan=called.plan,
            calls=called.calls,
            inputs=fill_project_values(plan.inputs, {**inputs, **began.inputs}, state.project),
            workspace=state.workspace,
            tree=state.tree,
            agent=state.agent,
            agents=state.agents,
            script=state.script,
            pass_env=state.pass_env,
            task=state.task,
            allowance=remaining_budget(around, state, step, pending.address),
            around=enclosing_budget(around, state, step),
            checks=state.checks,
            project=state.project,
            scope=called.scope,
            prefix=called.prefix,
            env=state.env,
            parent=Parent(state.run, pending.address, pending.seq),
            timeout=plan.timeout,
            root=state.family,
            generation=state.generation + 1,
            at=self.clock(),
        )
        try:
            if state.admission is not None or plan.concurrency is not None:
                started = admission.add_admission(plan, started, state.admission)
        except HandrailError as error:
            return _start_failure(pending, error, self.clock())
        redactor = self.environments.environment_of(state.run).redactor
        try:
            self.log.append([build_first_append(self.log, redactor, began.child, started)], [])
        except VersionConflict:
            # The previous holder of the lease was faster: it started the same child.
            return None
        return None

    def _release(self, state: RunState, pending: Pending) -> None:
        """Let a child that was imported with its caller go on in the caller's worktree, once that was released."""
        child = state_of(self.log, pending.child)
        if state.foreign or not child.foreign or child.status in OVER:
            return
        writer = RunWriter(self.log, self.environments.environment_of(state.run).redactor)
        needs = self._needs(state, child)
        writer.send(
            child.run,
            f"release:parent:{state.run}:{pending.seq}",
            "release_import",
            by="",
            source=None,
            tree=None if state.tree is None else encode(state.tree),
            workspace=state.workspace,
            pass_env=list(state.pass_env),
            agents=encode(state.agents),
            admission=None if needs is None else encode(needs),
        )

    def _needs(self, state: RunState, child: RunState) -> Admission | None:
        """Say what a child that was imported with its caller waits for."""
        plan = plan_of(self.log, child.plan)
        if state.admission is None and plan.concurrency is None:
            return None
        place = state.workspace if state.tree is None else state.tree.repository
        return admission.admission_here(plan, child, state.admission or Admission(place))

    def _find_called_workflow(self, state: RunState, began: ChildStarted) -> "_CalledWorkflow":
        """Find the workflow that was pinned when the run started; one that was missing then is looked up now."""
        name = began.workflow
        if began.plan:
            scope = json.dumps(call_scope.scope_of_call(state, began.address)).encode()
            prefix = began.address.rpartition("/")[0] + "/"
            return _CalledWorkflow(began.plan, state.definition, state.calls, self.log.put_blob(scope), prefix)
        known = find_pinned_call(self.log, state.calls, name)
        if known is not None:
            return _CalledWorkflow(self.log.put_blob(known[0]), known[1], state.calls)
        # Found and trusted in the user's checkout: what an agent writes into a worktree is never run as a workflow.
        found = self._find_workflow(name, state)
        return _CalledWorkflow(
            self.log.put_blob(encode_plan(found.plan)), found.definition, put_calls(self.log, found.calls)
        )

    def _find_workflow(self, name: str, state: RunState) -> PinnedWorkflow:
        place = state.workspace if state.tree is None else state.tree.repository
        actions = (each.action for each in plan_of(self.log, state.plan).steps)
        origins = {each.origin for each in actions if isinstance(each, DynamicAction)}
        if ":" in name or origins <= {"", "repository"}:
            return self.workflows(name, place)
        # As everywhere: a plain name in a flow from outside the repository never means a file of the repository.
        try:
            return self.workflows(f"user:{name}", place)
        except NotFound:
            return self.workflows(f"built-in:{name}", place)


@frozen
class _CalledWorkflow:
    """A called workflow: the digests of its plan and of those that it may call, and its version."""

    plan: str
    definition: str
    calls: str
    scope: str = ""
    """What the call of a flow sees of earlier calls."""
    prefix: str = ""

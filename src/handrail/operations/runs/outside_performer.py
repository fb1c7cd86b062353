"""Performs a run's steps from outside: whoever took a run is given its pending step, and completes it.

What follows from a completed step is decided here, under the run's lease and in the same commit; the engine performs
no step of a run that somebody holds. Child runs are runs of their own: the engine goes on with them.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from handrail.engine.decide import complete_guided as guided_completion
from handrail.engine.decide.complete_guided import complete_guided
from handrail.engine.decide.from_outside import complete, fail
from handrail.errors import LogConflict, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import Event, StepBegan
from handrail.model.history.run_state import RunState
from handrail.model.workflow.agent_names import NO_AGENT_NAMES
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.event_records import from_log
from handrail.runtime.history import folded, plan_of, state_of
from handrail.runtime.recorder import Recorder
from handrail.runtime.run_writer import RunWriter

GUIDED = frozenset({"guided", "delegate"})
_PATIENCE = 2.0
"""Seconds in which a driver that only looks at the run has let go of it."""
_LOOK_EVERY = 0.02


@frozen
class PendingStep:
    """A step that waits for its performer; `seq` names it in the answer."""

    seq: int
    address: str
    action: str
    attempt: int
    spec: dict[str, JsonValue]
    """What the engine would perform: commands with their values, limits, inputs."""


def pending_step(log: Log, run: str) -> PendingStep | None:
    """Give the step that the holder of a run is to perform; None while it is not theirs, or there is none."""
    state = state_of(log, run)
    pending = state.pending
    if not state.held_by or state.status != "running" or pending is None or pending.kind != "step":
        return None
    began = _intent(log, state)
    return PendingStep(pending.seq, pending.address, pending.action, pending.attempt, began.spec)


def complete_step(writer: RunWriter, run: str, seq: int, output: JsonValue, by: str) -> RunState:
    """Record what a performer made of its pending step, and decide what comes next; give the run after it."""
    return _record(writer, run, by, lambda found: _completed(writer.log, found, seq, Given(by, output)))


def fail_step(writer: RunWriter, run: str, seq: int, error: str, by: str) -> RunState:
    """Record that a performer could not do its pending step, and why: tries and `on_fail` then count as ever."""
    return _record(writer, run, by, lambda found: (fail(found.state, seq, error, by, time.time()),))


@frozen
class Given:
    """What a performer gives back, as it came."""

    by: str
    output: JsonValue


@frozen
class _Found:
    """The run that a performer holds."""

    plan: Plan
    state: RunState


def _record(writer: RunWriter, run: str, by: str, ending: Callable[[_Found], tuple[Event, ...]]) -> RunState:
    """Record how the pending step ended and what follows from it, in one commit under the run's lease."""
    log = writer.log
    lease = leased(log, run, by)
    try:
        found = folded(log, run)
        state = found.state
        _require_holder(state, by)
        # Whoever performs the steps is no agent of ours: names stay as they are written.
        recorder = Recorder(log, lease, time.time, writer.redactor, found.checkpointed, agent_names=NO_AGENT_NAMES)
        plan = plan_of(log, state.plan)
        return recorder.commit(recorder.turn(plan, state, ending(_Found(plan, state))))
    finally:
        log.release(lease)


def _completed(log: Log, found: _Found, seq: int, given: Given) -> tuple[Event, ...]:
    """The events of a completed step; a guided one may be refused, and then says what it lacks."""
    state = found.state
    if state.pending is not None and state.pending.action in GUIDED:
        return complete_guided(found.plan, state, seq, _guided(given), time.time()).events
    ended = complete(state, seq, given.output, given.by, time.time())
    leaves = _intent(log, state).spec.get("exit_loop") is True
    return (replace(ended, details={**ended.details, "exit_loop": leaves}),)


def _guided(given: Given) -> guided_completion.Given:
    """Read notes, artifacts and context; a plain text is the notes."""
    output = given.output
    if not isinstance(output, dict):
        return guided_completion.Given(by=given.by, notes="" if output is None else str(output))
    artifacts, context = output.get("artifacts"), output.get("context")
    return guided_completion.Given(
        by=given.by,
        notes=str(output.get("notes") or output.get("notesMarkdown") or ""),
        artifacts=tuple(artifacts) if isinstance(artifacts, list) else (),
        context=context if isinstance(context, dict) else {},
    )


def leased(log: Log, run: str, by: str) -> Lease:
    """Get the lease of a run, waiting a little for a driver that only looks at it."""
    until = time.monotonic() + _PATIENCE
    while isinstance(lease := log.acquire(run, by), Holder):
        if time.monotonic() > until:
            raise LogConflict(
                f"{run} is driven by {lease.name} (process {lease.pid})", next_step=f"handrail take {run}, then again"
            )
        time.sleep(_LOOK_EVERY)
    return lease


def _require_holder(state: RunState, by: str) -> None:
    if not state.held_by:
        raise UsageError(f"{state.run} is driven by the engine", next_step=f"handrail take {state.run}")
    if state.held_by != by:
        raise UsageError(f"{state.run} is held by {state.held_by}", next_step=f"handrail release {state.run}")
    if state.pending is None or state.pending.kind != "step":
        raise UsageError(f"{state.run} has no step to complete", next_step=f"handrail status {state.run}")
    if state.status != "running":
        raise UsageError(f"{state.run} is {state.status}: {state.message}", next_step=state.next_step or None)


def _intent(log: Log, state: RunState) -> StepBegan:
    seq = 0 if state.pending is None else state.steps[state.pending.address].began
    began = from_log(log.read(state.run, after=seq - 1, limit=1)[0])
    if not isinstance(began, StepBegan):
        raise UsageError(f"{state.run} has no step to complete", next_step=f"handrail status {state.run}")
    return began

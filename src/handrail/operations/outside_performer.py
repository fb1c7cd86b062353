"""Performs a run's steps from outside: whoever took a run is given its pending step, and completes it.

What follows from a completed step is decided here, under the run's lease and in the same commit; the engine performs
no step of a run that somebody holds. Child runs are runs of their own: the engine goes on with them.
"""

import time
from dataclasses import dataclass, replace

from handrail.engine.answers import complete
from handrail.errors import LogConflict, UsageError
from handrail.model.events import StepBegan
from handrail.model.run import RunState
from handrail.model.values import JsonValue
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.histories import folded, plan_of, state_of
from handrail.runtime.recording import Recorder
from handrail.runtime.records import from_log

_PATIENCE = 2.0
"""Seconds in which a driver that only looks at the run has let go of it."""
_LOOK_EVERY = 0.02


@dataclass(frozen=True, slots=True)
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


def complete_step(log: Log, run: str, seq: int, output: JsonValue, by: str) -> RunState:
    """Record what a performer made of its pending step, and decide what comes next; give the run after it."""
    lease = _leased(log, run, by)
    try:
        state, checkpointed = folded(log, run)
        _require_holder(state, by)
        ended = complete(state, seq, output, by, time.time())
        leaves = _intent(log, state).spec.get("exit_loop") is True
        ended = replace(ended, details={**ended.details, "exit_loop": leaves})
        recorder = Recorder(log, lease, time.time, checkpointed)
        return recorder.commit(recorder.turn(plan_of(log, state.plan), state, (ended,)))
    finally:
        log.release(lease)


def _leased(log: Log, run: str, by: str) -> Lease:
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


def _intent(log: Log, state: RunState) -> StepBegan:
    seq = 0 if state.pending is None else state.pending.seq
    began = from_log(log.read(state.run, after=seq - 1, limit=1)[0])
    if not isinstance(began, StepBegan):
        raise UsageError(f"{state.run} has no step to complete", next_step=f"handrail status {state.run}")
    return began

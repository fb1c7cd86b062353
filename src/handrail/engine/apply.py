"""Folds one event into the state. The same events always give the same state; nothing here asks the outside.

The file is long because it is one table: a handler for each event, a few lines each.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from rpds import HashTrieMap

from handrail.engine import apply_guided as guided
from handrail.engine import flows
from handrail.engine.snapshots import decode_state
from handrail.engine.transitions import IllegalMove, require
from handrail.model import events as ev
from handrail.model.names import spoken
from handrail.model.run import Failure, Frame, GroupState, LoopState, Pending, RunState, StepState, changed
from handrail.model.values import JsonValue

Blobs = Callable[[str], bytes]
"""Gives the content of a blob by its digest."""

Step = Callable[[RunState, Any, Blobs], RunState]

_RUNNING: dict[str, Any] = {"status": "running", "reason": None, "message": ""}


def apply(state: RunState | None, event: ev.Event, seq: int, blobs: Blobs) -> RunState:
    """Give the state after an event."""
    require("" if state is None else state.status, event.kind)
    if state is None:
        return replace(_begin(event, blobs), seq=seq)
    if seq != state.seq + 1:
        raise IllegalMove(f"event {seq} follows event {state.seq}")
    after = _STEPS[event.kind](state, event, blobs)
    return after if after.seq == seq else replace(after, seq=seq)


def _begin(event: ev.Event, blobs: Blobs) -> RunState:
    if isinstance(event, ev.RunForked):
        copy = flows.begun_anew(decode_state(blobs(event.state)))
        # What its source had begun is in the source's log: the copy begins that step anew.
        kept = copy.pending if copy.pending is not None and copy.pending.kind == "approval" else None
        origin = (event.source, event.seq)
        return replace(copy, run=event.run, parent=None, held_by="", forked_from=origin, pending=kept)
    started = cast("ev.RunStarted", event)
    return RunState(
        run=started.run,
        status="running",
        plan=started.plan,
        definition=started.definition,
        workflow=started.workflow,
        inputs=started.inputs,
        workspace=started.workspace,
        started_at=started.at,
        checks=started.checks,
        task=started.task,
        parent=started.parent,
        stack=(Frame(""),),
        names=HashTrieMap({spoken(name): value for name, value in started.inputs.items()}),
        context=guided.first_context(started),
    )


def _name(address: str) -> str:
    """The step's own name in its address: the last part, without round, try or key."""
    return address.rpartition("/")[2]


def _with_step(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    return changed(state, seq=state.seq + 1, steps=state.steps.insert(address, step), **changes)


def _finished(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    """A step is over: it can be read by name, and the next one of the innermost list follows."""
    frame = state.stack[-1]
    next_one = Frame(frame.prefix, frame.index + 1, frame.loop, frame.group)
    # One new state for everything that changes: this is the most frequent move of all.
    return changed(
        state,
        seq=state.seq + 1,
        steps=state.steps.insert(address, step),
        latest=state.latest.insert(spoken(_name(address)), address),
        previous=address,
        pending=None,
        failure=None,
        stack=(*state.stack[:-1], next_one),
        **changes,
    )


def _skipped(state: RunState, event: ev.StepSkipped, _: Blobs) -> RunState:
    step = StepState("skipped", began=state.seq + 1, began_at=event.at, ended_at=event.at)
    return _finished(state, event.address, step)


def _began(state: RunState, event: ev.StepBegan, _: Blobs) -> RunState:
    name = spoken(_name(event.address))
    step = StepState(
        "running",
        attempts=event.attempt,
        began=state.seq + 1,
        began_at=event.at,
        feedback=state.feedback.get(name, ""),
    )
    pending = Pending(state.seq + 1, event.address, "step", event.action, event.attempt, output=event.output)
    return _with_step(state, event.address, step, pending=pending, failure=None, status="running")


def _ended(state: RunState, event: ev.StepEnded, _: Blobs) -> RunState:
    pending = state.pending
    if pending is None or pending.seq != event.began or pending.address != event.address:
        raise IllegalMove(f"step '{event.address}' ended, but event {event.began} is not what is pending")
    step = replace(
        state.steps[event.address],
        status=event.status,
        output=event.output,
        exit_code=event.exit_code,
        stdout=event.stdout,
        stderr=event.stderr,
        error=event.error,
        ended_at=event.at,
    )
    if flows.is_call(state, event.address):
        return flows.call_over(state, event.address, step, **_RUNNING)
    if event.status == "failed":
        failure = Failure(event.address, step.attempts, event.error)
        return _with_step(state, event.address, step, pending=None, failure=failure, **_RUNNING)
    names = state.names.insert(spoken(pending.output), event.output) if pending.output else state.names
    if event.details.get("exit_loop") is True:
        state = _leave_loop(state)
    if event.details.get("loop_control") == "stop":
        state = guided.stopped(state)
    return _finished(state, event.address, step, names=names, **_RUNNING)


def _leave_loop(state: RunState) -> RunState:
    frame = state.stack[-1]
    if frame.loop is None:
        return state
    left = replace(frame, loop=replace(frame.loop, leaving=True))
    return replace(state, stack=(*state.stack[:-1], left))


def _passed_over(state: RunState, event: ev.StepPassedOver, _: Blobs) -> RunState:
    step = replace(state.steps[event.address], status="passed_over" if event.how == "warn" else "failed")
    return _finished(state, event.address, step)


def _retry(state: RunState, event: ev.RetryScheduled, _: Blobs) -> RunState:
    failure = replace(state.failure, retry_at=event.due) if state.failure else None
    return replace(state, failure=failure, status="waiting", reason="timer", until=event.due)


def _fired(state: RunState, event: ev.TimerFired, _: Blobs) -> RunState:
    if event.key == "retry" and state.failure is not None:
        failure = replace(state.failure, retry_at=0.0)
        return replace(state, failure=failure, status="running", reason=None, until=None)
    return state


def _loop_entered(state: RunState, event: ev.LoopEntered, _: Blobs) -> RunState:
    step = StepState("running", attempts=1, began=state.seq + 1, began_at=event.at)
    loop = LoopState(event.address, 0, event.item, event.items, event.keys, event.count, steered=event.steered)
    return _with_step(state, event.address, step, stack=(*state.stack, Frame(event.address, -1, loop)))


def _round_started(state: RunState, event: ev.RoundStarted, _: Blobs) -> RunState:
    frame = state.stack[-1]
    if frame.loop is None:
        raise IllegalMove(f"a round of '{event.address}' began outside of it")
    loop = replace(frame.loop, round=event.round)
    prefix = f"{event.address}{_mark(loop)}/"
    return replace(state, stack=(*state.stack[:-1], Frame(prefix, 0, loop)))


def _mark(loop: LoopState) -> str:
    if loop.keys is not None:
        return f"[{loop.keys[loop.round - 1]}]"
    return f"@{loop.round}"


def _round_ended(state: RunState, event: ev.RoundEnded, _: Blobs) -> RunState:
    position = next(at for at in range(len(state.stack) - 1, -1, -1) if _is_loop(state.stack[at], event.address))
    frame = state.stack[position]
    loop = cast("LoopState", frame.loop)
    item = _item(loop)
    outcome = {"failed": (*loop.failed, item)} if event.failed else {"done": (*loop.done, item)}
    loop = replace(loop, **outcome)
    kept = (*state.stack[:position], Frame(event.address, -1, loop))
    return replace(state, stack=kept, failure=None, pending=None)


def _is_loop(frame: Frame, address: str) -> bool:
    return frame.loop is not None and frame.loop.address == address


def _item(loop: LoopState) -> JsonValue:
    return loop.items[loop.round - 1] if loop.items is not None else loop.round


def _loop_ended(state: RunState, event: ev.LoopEnded, _: Blobs) -> RunState:
    loop = cast("LoopState", state.stack[-1].loop)
    total = len(loop.items) if loop.items is not None else loop.count
    left: list[JsonValue] = list(loop.items[loop.round :]) if loop.items is not None else []
    result: dict[str, JsonValue] = {
        "rounds": loop.round,
        "done": list(loop.done),
        "undone": [],
        "failed": list(loop.failed),
        "left": left if total is not None else [],
    }
    step = replace(state.steps[event.address], status="succeeded", output=result, ended_at=event.at)
    return _finished(replace(state, stack=state.stack[:-1]), event.address, step)


def _group_entered(state: RunState, event: ev.GroupEntered, _: Blobs) -> RunState:
    step = StepState("running", attempts=1, began=state.seq + 1, began_at=event.at)
    hidden = GroupState(event.address, event.inputs, state.names, state.latest)
    names: HashTrieMap[str, JsonValue] = HashTrieMap(event.inputs)
    latest: HashTrieMap[str, str] = HashTrieMap()
    stack = (*state.stack, Frame(f"{event.address}/", 0, group=hidden))
    return _with_step(state, event.address, step, stack=stack, names=names, latest=latest)


def _group_left(state: RunState, event: ev.GroupLeft, _: Blobs) -> RunState:
    hidden = cast("GroupState", state.stack[-1].group)
    output: dict[str, JsonValue] = {name: value for name, value in state.names.items() if name not in hidden.inputs}
    step = replace(state.steps[event.address], status="succeeded", output=output, ended_at=event.at)
    state = replace(state, stack=state.stack[:-1], names=hidden.names, latest=hidden.latest)
    return _finished(state, event.address, step)


def _asked(state: RunState, event: ev.ApprovalRequested, _: Blobs) -> RunState:
    step = StepState("waiting", attempts=1, began=state.seq + 1, began_at=event.at)
    pending = Pending(state.seq + 1, event.address, "approval", "approval")
    waiting = {"status": "waiting", "reason": "approval", "message": event.message, "until": event.due}
    return _with_step(state, event.address, step, pending=pending, **waiting)


def _answered(state: RunState, event: ev.ApprovalDecided, _: Blobs) -> RunState:
    pending = state.pending
    if pending is None or pending.seq != event.asked:
        raise IllegalMove(f"an answer for event {event.asked}, which nobody asks about")
    record: dict[str, JsonValue] = {"decision": event.decision, "feedback": event.feedback, "by": event.by}
    status = "failed" if event.decision == "reject" else "succeeded"
    done = replace(state.steps[event.address], status=status, output=record, feedback=event.feedback, ended_at=event.at)
    if flows.is_call(state, event.address):
        return flows.call_over(state, event.address, done, until=None, **_RUNNING)
    if event.decision == "approve":
        return _finished(state, event.address, done, until=None, **_RUNNING)
    state = _with_step(state, event.address, done, pending=None, until=None, **_RUNNING)
    if event.decision == "reject":
        return replace(state, failure=Failure(event.address, 1, event.feedback or "no reason was given"))
    return _go_back(state, event)


def _go_back(state: RunState, event: ev.ApprovalDecided) -> RunState:
    frame = replace(state.stack[-1], index=event.back_to or 0)
    return replace(
        state,
        stack=(*state.stack[:-1], frame),
        revisions=state.revisions.insert(event.address, state.revisions.get(event.address, 0) + 1),
        feedback=state.feedback.insert(spoken(event.target), event.feedback),
    )


def _child(state: RunState, event: ev.ChildStarted, _: Blobs) -> RunState:
    step = StepState("running", attempts=1, began=state.seq + 1, began_at=event.at)
    pending = Pending(state.seq + 1, event.address, "child", "workflow", child=event.child, output=event.output)
    return _with_step(state, event.address, step, pending=pending, failure=None)


def _waits(state: RunState, event: ev.RunWaits, _: Blobs) -> RunState:
    return replace(state, status="waiting", reason=event.reason, message=event.message, until=event.until)


def _blocked(state: RunState, event: ev.RunBlocked, _: Blobs) -> RunState:
    return replace(state, status="blocked", reason=event.reason, message=event.message, next_step=event.next_step)


def _resumed(state: RunState, event: ev.RunResumed, _: Blobs) -> RunState:
    del event
    kept = state.pending
    # After a fault of the machine the step itself is as it was: what it has done is looked for, not done again.
    if kept is not None and kept.kind == "step" and state.reason != "fault":
        kept = None
    kept = flows.goes_on_with(state, kept)
    status = "waiting" if kept is not None and kept.kind == "approval" else "running"
    reason = "approval" if status == "waiting" else None
    cleared = replace(state, reason=reason, message="", next_step="", until=None, ended_at=None)
    return replace(cleared, status=status, failure=None, pending=kept)


def _rewound(state: RunState, event: ev.RunRewound, blobs: Blobs) -> RunState:
    before = decode_state(blobs(event.state))
    return replace(before, run=state.run, held_by=state.held_by, crossed=state.crossed, parent=state.parent)


def _taken(state: RunState, event: ev.RunTaken, _: Blobs) -> RunState:
    held = replace(state, held_by=event.by)
    return replace(held, next_step="", **_RUNNING) if guided.can_go_on(state) else held


def _released(state: RunState, event: ev.RunReleased, _: Blobs) -> RunState:
    del event
    return replace(state, held_by="")


def _over(state: RunState, event: ev.RunEnded, _: Blobs) -> RunState:
    return replace(state, status=event.status, message=event.message, ended_at=event.at, reason=None, until=None)


_STEPS: dict[str, Step] = {
    "step_skipped": _skipped,
    "step_chosen": lambda state, event, _: guided.chosen(state, event),
    "step_refused": lambda state, event, _: guided.refused(state, event),
    "context_merged": lambda state, event, _: guided.context_merged(state, event),
    "step_began": _began,
    "step_ended": _ended,
    "call_requested": lambda state, event, _: flows.requested(state, event),
    "step_passed_over": _passed_over,
    "retry_scheduled": _retry,
    "timer_fired": _fired,
    "loop_entered": _loop_entered,
    "round_started": _round_started,
    "round_ended": _round_ended,
    "loop_ended": _loop_ended,
    "group_entered": _group_entered,
    "group_left": _group_left,
    "approval_requested": _asked,
    "approval_decided": _answered,
    "child_started": _child,
    "run_waits": _waits,
    "run_blocked": _blocked,
    "run_resumed": _resumed,
    "run_rewound": _rewound,
    "run_taken": _taken,
    "run_released": _released,
    "run_ended": _over,
}

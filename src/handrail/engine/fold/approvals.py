"""Folds what a person is asked and answers: an approval of its own, or the confirmation of a step."""

from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.engine.fold import dynamic as flows
from handrail.engine.fold import guided
from handrail.engine.fold.steps import RUNNING, finish_step, put_step
from handrail.engine.state.transitions import IllegalMove
from handrail.late_import import late_import
from handrail.model.history import events as ev
from handrail.model.history.run_state import (
    Failure,
    Pending,
    RunState,
    StepState,
    awaits_confirmation,
    git_changes_words,
)
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.guided import loop_signals
else:
    loop_signals = late_import("handrail.engine.guided.loop_signals")


def fold_approval_requested(state: RunState, event: ev.ApprovalRequested) -> RunState:
    """Wait for a person's answer."""
    known = state.steps.get(event.address)
    step = StepState("waiting", attempts=1, began=state.seq + 1, began_at=event.at)
    # A step that awaits confirmation keeps its record, because the question is about that step.
    step = known if known is not None and awaits_confirmation(known) else step
    said = "\n".join(part for part in (event.message, git_changes_words(state.git_changes)) if part)
    pending = Pending(state.seq + 1, event.address, "approval", "approval", question=said)
    waiting = {"status": "waiting", "reason": "approval", "message": said, "until": event.due}
    return put_step(state, event.address, step, pending=pending, **waiting)


def fold_approval_decided(state: RunState, event: ev.ApprovalDecided) -> RunState:
    """Record a person's answer: continue, go back, or fail."""
    pending = state.pending
    if pending is None or pending.seq != event.asked:
        raise IllegalMove(f"an answer for event {event.asked}, which is not a pending question")
    record: dict[str, JsonValue] = {"decision": event.decision, "feedback": event.feedback, "by": event.by}
    status = "failed" if event.decision == "reject" else "succeeded"
    known = state.steps[event.address]
    output = _add_confirmation(known, record) if awaits_confirmation(known) else record
    done = known._replace(status=status, output=output, feedback=event.feedback, ended_at=event.at)
    if event.decision == "revise" and awaits_confirmation(known):
        # The step is done again, and counts as not done until then.
        done = known._replace(output=None)
    if flows.is_call(state, event.address):
        return flows.end_call(state, event.address, done, until=None, **RUNNING)
    if event.decision == "approve":
        state = _apply_loop_signal(state, known)
        return finish_step(state, event.address, done, {"until": None, **RUNNING})
    state = put_step(state, event.address, done, pending=None, until=None, **RUNNING)
    if event.decision == "reject":
        return replace(state, failure=Failure(event.address, 1, event.feedback or "no reason was given"))
    return _go_back(state, event)


def _go_back(state: RunState, event: ev.ApprovalDecided) -> RunState:
    frame = replace(state.stack[-1], index=event.back_to or 0)
    return replace(
        state,
        stack=(*state.stack[:-1], frame),
        revisions=state.revisions.insert(event.address, state.revisions.get(event.address, 0) + 1),
        feedback=state.feedback.insert(make_identifier(event.target), event.feedback),
    )


def _add_confirmation(step: StepState, record: dict[str, JsonValue]) -> JsonValue:
    """Return the output of a step together with a person's answer to it."""
    given = step.output if isinstance(step.output, dict) else {}
    return {**given, "confirmation": {**record, "confirmed": record["decision"] == "approve"}}


def _apply_loop_signal(state: RunState, step: StepState) -> RunState:
    """Let the loop end if the step that was just confirmed asked for that."""
    given = step.output if isinstance(step.output, dict) and awaits_confirmation(step) else {}
    artifacts = given.get("artifacts")
    stops = isinstance(artifacts, list) and loop_signals.loop_control(artifacts) == "stop"
    return guided.stop_loop(state) if stops else state

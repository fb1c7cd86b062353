"""Folds what happens to single steps: they begin, end, are skipped, retried or asked about."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from handrail.engine.fold import dynamic as flows
from handrail.engine.fold import guided
from handrail.engine.prompts import person_messages as messages
from handrail.engine.prompts.choose_agent import count_fallbacks
from handrail.engine.prompts.conversation_summary import forget_session
from handrail.engine.state.agent_calls import count_call
from handrail.engine.state.budgets import (
    add_session_usage,
    add_spending,
    charge_enclosing_steps,
    charge_run,
    spending_of,
    sum_of,
)
from handrail.engine.state.position import step_name_of
from handrail.engine.state.transitions import IllegalMove
from handrail.late_import import late_import
from handrail.model.history import events as ev
from handrail.model.history.run_state import (
    Failure,
    Frame,
    Hindrance,
    Pending,
    RunState,
    StepState,
    update_state,
    update_state_from,
)
from handrail.model.history.spending import TIME_ONLY
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.composite import outcomes as kernels
else:
    kernels = late_import("handrail.engine.composite.outcomes")

RUNNING: dict[str, Any] = {"status": "running", "reason": None, "message": ""}


def put_step(state: RunState, address: str, step: StepState, **changes: Any) -> RunState:
    """Return a state in which a step is recorded at its address; counts the event."""
    return update_state(state, seq=state.seq + 1, steps=state.steps.insert(address, step), **changes)


def finish_step(state: RunState, address: str, step: StepState, changes: dict[str, Any]) -> RunState:
    """End a step, so that it can be read by name and the next one of the innermost list follows."""
    frame = state.stack[-1]
    next_one = Frame(frame.prefix, frame.index + 1, frame.loop, frame.group)
    # Build one new state for all changes, because this is the most frequent fold of all.
    return update_state_from(
        state,
        {
            **changes,
            "seq": state.seq + 1,
            "steps": state.steps.insert(address, step),
            "latest": state.latest.insert(make_identifier(address.rpartition("/")[2]), address),
            "previous": address,
            "pending": None,
            "failure": None,
            "stack": (*state.stack[:-1], next_one),
        },
    )


def new_step_record(state: RunState, address: str, at: float) -> StepState:
    """Build the record of a step that begins; what it spent before stays counted."""
    known = state.steps.get(address)
    spent = {} if known is None else _spending_fields(known)
    return StepState("running", 1, began=state.seq + 1, began_at=at, before=state.snapshot, **spent)


def ending_fields(state: RunState, step: StepState, at: float) -> dict[str, Any]:
    """Return the final fields of a step that contains others: what it changed is what they changed."""
    last = state.steps.get(state.previous)
    return {"ended_at": at, "since": step.before, "after": state.snapshot, "head": "" if last is None else last.head}


def _spending_fields(step: StepState) -> dict[str, Any]:
    return {"cost": step.cost, "tokens": step.tokens, "calls": step.calls, "seconds": step.seconds}


def fold_step_skipped(state: RunState, event: ev.StepSkipped) -> RunState:
    """Skip a step whose condition did not hold."""
    step = StepState("skipped", began=state.seq + 1, began_at=event.at, ended_at=event.at)
    return finish_step(state, event.address, step, {})


def fold_step_began(state: RunState, event: ev.StepBegan) -> RunState:
    """Make a step pending under the number of its event."""
    known = state.steps.get(event.address)
    told = state.feedback.get(step_name_of(state, event.address), "") if state.feedback else ""
    spent = {} if known is None else _spending_fields(known)
    pending = Pending(state.seq + 1, event.address, "step", event.action, event.attempt, output=event.output)
    changes: dict[str, Any] = {"pending": pending, "failure": None, "status": "running"}
    if event.spec.get("repeatable") is False:
        changes["crossed"] = (*state.crossed, (state.seq + 1, f"'{event.address}', which must not run twice"))
    changes |= flows.flow_changes(state, pending, event)
    call = event.spec.get("call") if event.action != "agent" else event.spec
    if isinstance(call, dict):
        spent["waits"] = 0 if known is None else known.waits
        spent["agent"] = str(call.get("agent", ""))
        spent["falls"] = count_fallbacks(state, event.address)
        changes["turns"] = count_call(state.turns, event.address)
    elif told:
        changes["feedback"] = state.feedback.discard(step_name_of(state, event.address))
    step = StepState(
        "running",
        event.attempt,
        event.spec["until"] if event.action == flows.SLEEP else guided.initial_delegations(event, known),
        feedback=told,
        began=state.seq + 1,
        began_at=event.at,
        before=_start_snapshot(state, known),
        **spent,
    )
    return put_step(state, event.address, step, **changes)


def _start_snapshot(state: RunState, known: StepState | None) -> str:
    """Return the snapshot on which a step began: a retry answers for what the attempts before it left behind."""
    return (known.before if known is not None and is_further_try(state, known) else "") or state.snapshot


def is_further_try(state: RunState, known: StepState) -> bool:
    """Whether a step that begins is another attempt of the recorded one."""
    return known.status in _NOT_OVER and state.stack[-1].work is None


_NOT_OVER = ("running", "waiting", "failed")


def fold_step_ended(state: RunState, event: ev.StepEnded) -> RunState:
    """Record the outcome of the pending step."""
    pending = state.pending
    if pending is None or pending.seq != event.began or pending.address != event.address:
        raise IllegalMove(f"step '{event.address}' ended, but event {event.began} is not the pending one")
    known, details = state.steps[event.address], event.details
    spent = spending_of(event, known)
    step = _record_outcome(known, event, spent)
    kept: dict[str, Any] = {name: details[name] for name in details if name in _OF_RUN}
    kept |= _reported_changes(state, step, details)
    # Changes are passed on to where the step's new state is built, because each state copies all its fields.
    kept |= {"spent": state.spent.plus(spent), **RUNNING}
    lost = event.details.get("lost")
    state = charge_enclosing_steps(forget_session(state, lost) if isinstance(lost, str) else state, spent)
    if event.status == "succeeded" and (pending.action == "agent" or not state.held_by):
        state = clear_delivered_messages(state, event.address, details.get("heard"))
    if flows.is_call(state, event.address):
        step, more = flows.add_call_record(step, event)
        return flows.end_call(state, event.address, step, **kept, **more)
    failure = _failure(event, step)
    if failure is not None and failure.hindrance != "try":
        step = _count_hindrance(step, failure)
    elif state.stack[-1].work is not None:
        heard = kernels.record_outcome(state, event)
        return put_step(heard, event.address, step, pending=None, failure=None, **kept)
    if failure is not None:
        return put_step(state, event.address, step, pending=None, failure=failure, **kept)
    return _complete_step(state, event, step, pending, kept)


def _reported_changes(state: RunState, step: StepState, details: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return what the performer of a step reports about the run: usage of a conversation, effects that stay."""
    found: dict[str, Any] = {}
    if "used" in details:
        found["used"] = add_session_usage(state, step.session, details["used"])
    if "crossed" in details:
        passed = cast("list[str]", details["crossed"])
        found["crossed"] = (*state.crossed, *((state.seq + 1, what) for what in passed))
    return found


def fold_step_refused(state: RunState, event: ev.StepRefused) -> RunState:
    """Leave a step pending that was not completed; what the engine's agent spent on it is counted."""
    state = guided.refuse_step(state, event)
    told = event.details.get("spent")
    if not isinstance(told, dict):
        return state
    spent = cast("dict[str, float]", told)
    step = add_spending(state.steps[event.address], spent)._replace(session=str(event.details.get("session") or ""))
    kept: dict[str, Any] = {name: event.details[name] for name in _OF_RUN if name in event.details}
    kept["used"] = add_session_usage(state, step.session, event.details.get("used"))
    if event.details.get("again") is True:
        kept["turns"] = count_call(state.turns, event.address)
    return charge_run(update_state(state, steps=state.steps.insert(event.address, step), **kept), spent)


def _count_hindrance(step: StepState, failure: Failure) -> StepState:
    """Count a wait, or an agent that was replaced: waits start over for the next agent."""
    if failure.hindrance in ("budget", "anew"):
        return step
    if failure.hindrance == "replace":
        return step._replace(waits=0, falls=step.falls + 1)
    return step._replace(waits=step.waits + 1)


def clear_delivered_messages(state: RunState, address: str, meanwhile: JsonValue = None) -> RunState:
    """Drop a person's feedback and answers once an agent saw them; a failed one may not have, and sees them again."""
    if state.pending is not None:
        state = messages.remove_heard(state, state.pending, cast("list[int]", meanwhile or []))
    if not state.feedback and not state.answers:
        return state
    feedback, answers = state.feedback.discard(step_name_of(state, address)), state.answers.discard(address)
    return update_state(state, feedback=feedback, answers=answers)


def _complete_step(
    state: RunState, event: ev.StepEnded, step: StepState, pending: Pending, kept: dict[str, Any]
) -> RunState:
    goes_on = messages.wants_follow_up(state, pending, step.session) or event.details.get("confirm")
    if goes_on:
        return put_step(state, event.address, step._replace(status="waiting"), pending=None, failure=None, **kept)
    if pending.output:
        kept["names"] = state.names.insert(make_identifier(pending.output), event.output)
    if event.details.get("exit_loop") is True:
        state = _leave_loop(state)
    if event.details.get("loop_control") == "stop":
        state = guided.stop_loop(state)
    return finish_step(state, event.address, step, kept)


def _record_outcome(step: StepState, event: ev.StepEnded, spent: Mapping[str, float]) -> StepState:
    outcome = (event.status, step.attempts, event.output, event.exit_code, event.stdout, event.stderr, event.error)
    if not event.details and spent.keys() <= TIME_ONLY:
        # The common case, a plain command: avoid looking up each field by name.
        seconds = round(step.seconds + spent.get("seconds", 0.0), 3)
        return StepState._make((*outcome, *step[len(outcome) : _ENDED_AT], event.at, seconds, *step[_ENDED_AT + 2 :]))
    told = {name: event.details[name] for name in event.details if name in _OF_STEP}
    step = StepState._make((*outcome, *step[len(outcome) :]))
    since = {"since": step.before, "after": event.details["snapshot"]} if "snapshot" in event.details else {}
    return step._replace(ended_at=event.at, **told, **since, **sum_of(step, spent))


_ENDED_AT = StepState._fields.index("ended_at")
_OF_STEP = ("summary", "session", "files", "commit", "branch", "changed", "head")
_OF_RUN = ("snapshot", "files")
"""What a step's performer reports beside its outcome."""


def _failure(event: ev.StepEnded, step: StepState) -> Failure | None:
    if event.status != "failed":
        return None
    details = event.details
    hindrance = cast("Hindrance", details.get("hindrance", "try"))
    after = cast("float", details.get("after", 0.0))
    blocks = cast("ev.BlockReason | None", details.get("blocks"))
    feedback = str(details.get("feedback", ""))
    return Failure(event.address, step.attempts, event.error, None, hindrance, after, blocks, feedback)


def _leave_loop(state: RunState) -> RunState:
    frame = state.stack[-1]
    if frame.loop is None:
        return state
    left = replace(frame, loop=replace(frame.loop, leaving=True))
    return replace(state, stack=(*state.stack[:-1], left))


def fold_step_passed_over(state: RunState, event: ev.StepPassedOver) -> RunState:
    """Continue without a step that failed, or without a further call for one that has its answer."""
    if event.how == "answered":
        return _accept_answer(state, event)
    step = state.steps[event.address]._replace(status="passed_over" if event.how == "warn" else "failed")
    if event.message:
        step = step._replace(error=f"{event.message} ({step.error})" if step.error else event.message)
    restore = step.before if event.how == "undo" and state.tree is not None else state.restore
    undone = {"since": "", "after": ""} if event.how == "undo" else {}
    # An approval that nobody answered is passed over while the run still waits for it.
    goes_on = {"until": None, **RUNNING} if state.status == "waiting" else {}
    return finish_step(state, event.address, step._replace(before="", **undone), {"restore": restore, **goes_on})


def _accept_answer(state: RunState, event: ev.StepPassedOver) -> RunState:
    step = state.steps[event.address]._replace(status="succeeded")
    names = state.names.insert(make_identifier(event.output), step.output) if event.output else state.names
    return finish_step(state, event.address, step, {"names": names})


def fold_retry_scheduled(state: RunState, event: ev.RetryScheduled) -> RunState:
    """Wait until the next attempt is due."""
    failure = replace(state.failure, retry_at=event.due) if state.failure else None
    return replace(
        state, failure=failure, status="waiting", reason=event.reason, message=event.message, until=event.due
    )


def fold_timer_fired(state: RunState, event: ev.TimerFired) -> RunState:
    """Continue with the attempt that was waited for, or after a flow's sleep."""
    if flows.is_asleep(state):
        return flows.wake(state, event.at)
    if event.key == "retry" and state.failure is not None:
        failure = replace(state.failure, retry_at=0.0)
        return replace(state, failure=failure, until=None, **RUNNING)
    return state


def fold_child_started(state: RunState, event: ev.ChildStarted) -> RunState:
    """Make a called workflow pending."""
    step = new_step_record(state, event.address, event.at)
    pending = Pending(state.seq + 1, event.address, "child", "workflow", child=event.child, output=event.output)
    return put_step(state, event.address, step, pending=pending, failure=None)

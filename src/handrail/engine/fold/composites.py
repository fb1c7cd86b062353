"""Folds the events of composite steps, of worktrees, and of agents that ask questions."""

from dataclasses import replace
from typing import Any, cast

from handrail.engine.fold import dynamic as flows
from handrail.engine.fold.steps import (
    RUNNING,
    clear_delivered_messages,
    ending_fields,
    finish_step,
    new_step_record,
    put_step,
)
from handrail.engine.state.agent_calls import uncount_call
from handrail.engine.state.budgets import add_session_usage, add_spending, charge_run
from handrail.engine.state.transitions import IllegalMove
from handrail.model.history import events as ev
from handrail.model.history.run_state import Failure, Frame, Pending, RunState, WorkState
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue


def fold_workspace_ready(state: RunState, event: ev.WorkspaceReady) -> RunState:
    """Work in the worktree that was created, or continue in the one that was borrowed."""
    made: dict[str, Any] = {"tree": event.tree, "source": None, "pinned": state.source or state.pinned}
    if event.tree.owned:
        made["workspace"] = event.tree.path
    if event.again and state.pending is not None:
        # The step starts over, and calls its agent for the same turn.
        made["pending"] = None
        if state.pending.action == "agent":
            made["turns"] = uncount_call(state.turns, state.pending.address)
    return replace(state, snapshot=event.snapshot, files=event.files, restore="", **made)


def fold_tree_restored(state: RunState, event: ev.TreeRestored) -> RunState:
    """Continue on the files of a restored snapshot."""
    return replace(state, snapshot=event.snapshot, restore="")


def fold_files_compared(state: RunState, event: ev.FilesCompared) -> RunState:
    """Store the difference between two snapshots."""
    return replace(state, diffs=state.diffs.insert(f"{event.since}..{event.until}", event.diff))


def fold_work_entered(state: RunState, event: ev.WorkEntered) -> RunState:
    """Enter a composite step."""
    attempts = state.failure.attempt + 1 if state.failure is not None else 1
    step = new_step_record(state, event.address, event.at)._replace(attempts=attempts)
    work = WorkState(event.address, event.action, event.data, event.output)
    stack = (*state.stack, Frame(f"{event.address}/", 0, work=work))
    return put_step(state, event.address, step, stack=stack, failure=None, **RUNNING)


def fold_work_left(state: RunState, event: ev.WorkLeft) -> RunState:
    """Leave a composite step as succeeded or failed."""
    work = cast("WorkState", state.stack[-1].work)
    known = state.steps[event.address]
    step = known._replace(
        status=event.status, output=event.output, error=event.error, **ending_fields(state, known, event.at)
    )
    outside = replace(state, stack=state.stack[:-1], pending=None)
    if event.status == "failed":
        failure = Failure(event.address, step.attempts, event.error, blocks=event.blocks)
        return put_step(outside, event.address, step, failure=failure)
    names = outside.names.insert(make_identifier(work.output), event.output) if work.output else outside.names
    return finish_step(outside, event.address, step, {"names": names, **RUNNING})


def replace_data(state: RunState, data: dict[str, JsonValue], **changes: Any) -> RunState:
    """Return a state in which the innermost composite step has other data."""
    frame = state.stack[-1]
    work = replace(cast("WorkState", frame.work), data=data)
    return replace(state, stack=(*state.stack[:-1], replace(frame, work=work)), **changes)


def fold_item_started(state: RunState, event: ev.ItemStarted) -> RunState:
    """Wait for the run of an item."""
    data = _data(state)
    started = {**cast("dict[str, JsonValue]", data["started"]), event.key: event.child}
    pending = state.pending or Pending(state.seq + 1, event.address, "items", "parallel-agents")
    return replace_data(state, {**data, "started": started}, pending=pending)


def fold_item_ended(state: RunState, event: ev.ItemEnded) -> RunState:
    """Store the result of an item."""
    data = _data(state)
    results: dict[str, JsonValue] = {**cast("dict[str, JsonValue]", data["results"]), event.key: event.result}
    running = set(cast("dict[str, JsonValue]", data["started"])) - set(results)
    pending = state.pending if running else None
    return replace_data(charge_run(state, event.spent), {**data, "results": results}, pending=pending)


def _data(state: RunState) -> dict[str, JsonValue]:
    work = state.stack[-1].work
    if work is None:
        raise IllegalMove("an item of a fan-out changed outside of the fan-out")
    return work.data


def fold_question_asked(state: RunState, event: ev.QuestionAsked) -> RunState:
    """Wait for a person's answer to an agent's question."""
    pending = state.pending
    if pending is not None and pending.seq == event.began and flows.is_call(state, event.address):
        return flows.fold_flow_question(state, event)
    if pending is None or pending.seq != event.began:
        raise IllegalMove(f"step '{event.address}' asks a question, but event {event.began} is not the pending one")
    step = add_spending(state.steps[event.address], event.spent)
    step = step._replace(status="waiting", session=event.session)
    asking = replace(pending, seq=state.seq + 1, kind="question", question=event.question)
    waiting = {"status": "waiting", "reason": "question", "message": event.question}
    state = charge_run(state, event.spent, used=add_session_usage(state, event.session, event.used))
    heard = clear_delivered_messages(state, event.address, list(event.heard))
    return put_step(heard, event.address, step, pending=asking, **waiting)


def fold_question_answered(state: RunState, event: ev.QuestionAnswered) -> RunState:
    """Let the step continue with the answer."""
    if state.pending is None or state.pending.seq != event.asked:
        raise IllegalMove(f"an answer for event {event.asked}, which is not a pending question")
    if flows.is_call(state, event.address):
        return flows.fold_flow_answer(state, event)
    answers = state.answers.insert(event.address, event.answer)
    return replace(state, pending=None, answers=answers, **RUNNING)

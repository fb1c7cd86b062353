"""Folds one event into the state of a run.

The log of a run is a list of events, and its state is a fold over that list: `apply` starts from nothing and is called
for each event in turn. The state is never stored as the truth, only as a checkpoint of a fold that could be repeated,
so whoever reads the log (the driver after a crash, a view, a copy or a rewind of the run) arrives at the same state.

That holds because of three rules. A fold is pure: it reads the event, the state before it and stored blobs by digest,
and asks nothing else, neither a clock nor a file. An event folds only in the status in which `transitions` allows it,
and only as the successor of the last one, so a gap or a repetition in a log raises an error instead of bending the
state. And a fold never decides: everything that was evaluated to get there is in the event. A change to a fold changes
what old logs mean, so it must raise `REDUCER`, which discards the checkpoints made before it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handrail.engine.fold import approvals, blocks, guided, runs, steps
from handrail.engine.fold import composites as works
from handrail.engine.fold import dynamic as flows
from handrail.engine.fold import step_tools as agent_tools
from handrail.engine.fold.runs import Blobs
from handrail.engine.prompts import person_messages as messages
from handrail.engine.state.transitions import IllegalMove, require_allowed
from handrail.late_import import late_import
from handrail.model.history import events as ev
from handrail.model.history.run_state import RunState, update_state

if TYPE_CHECKING:
    from handrail.engine.fold import clocks
else:
    clocks = late_import("handrail.engine.fold.clocks")


def apply(state: RunState | None, event: ev.Event, seq: int, blobs: Blobs) -> RunState:
    """Return the state after an event."""
    require_allowed("" if state is None else state.status, event.kind)
    if state is None:
        return replace(runs.begin_run(event, blobs), seq=seq)
    if seq != state.seq + 1:
        raise IllegalMove(f"event {seq} follows event {state.seq}")
    after = (
        runs.fold_run_rewound(state, event, blobs)
        if isinstance(event, ev.RunRewound)
        else _FOLDS[event.kind](state, event)
    )
    # `fold_clock_noted` shifts `counts_from` itself, and counting would put the old value back.
    if state.timeout is not None and event.kind != "clock_noted":
        after = clocks.count_time(state, after, event.at)
    return after if after.seq == seq else update_state(after, seq=seq)


_FOLDS: dict[str, Callable[[RunState, Any], RunState]] = {
    "workspace_ready": works.fold_workspace_ready,
    "tree_restored": works.fold_tree_restored,
    "files_compared": works.fold_files_compared,
    "work_entered": works.fold_work_entered,
    "work_left": works.fold_work_left,
    "item_started": works.fold_item_started,
    "item_ended": works.fold_item_ended,
    "question_asked": works.fold_question_asked,
    "question_answered": works.fold_question_answered,
    "message_given": messages.fold_message_given,
    "step_skipped": steps.fold_step_skipped,
    "step_chosen": guided.fold_step_chosen,
    "step_refused": steps.fold_step_refused,
    "work_reported": guided.fold_work_reported,
    "delegation_reported": guided.fold_delegation_reported,
    "checkpoint_made": guided.fold_checkpoint_made,
    "tool_called": agent_tools.fold_tool_called,
    "child_ended": agent_tools.fold_child_ended,
    "preferences_set": guided.fold_preferences_set,
    "gap_recorded": guided.fold_gap_recorded,
    "capability_observed": guided.fold_capability_observed,
    "context_merged": guided.fold_context_merged,
    "step_began": steps.fold_step_began,
    "step_ended": steps.fold_step_ended,
    "call_requested": flows.fold_call_requested,
    "step_passed_over": steps.fold_step_passed_over,
    "retry_scheduled": steps.fold_retry_scheduled,
    "timer_fired": steps.fold_timer_fired,
    "loop_entered": blocks.fold_loop_entered,
    "round_started": blocks.fold_round_started,
    "round_ended": blocks.fold_round_ended,
    "loop_ended": blocks.fold_loop_ended,
    "group_entered": blocks.fold_group_entered,
    "group_left": blocks.fold_group_left,
    "approval_requested": approvals.fold_approval_requested,
    "approval_decided": approvals.fold_approval_decided,
    "child_started": steps.fold_child_started,
    "command_refused": runs.fold_command_refused,
    "person_notified": runs.fold_person_notified,
    "git_settings_changed": runs.fold_git_settings_changed,
    "clock_noted": runs.fold_clock_noted,
    "run_waits": runs.fold_run_waits,
    "run_blocked": runs.fold_run_blocked,
    "run_queued": runs.fold_run_queued,
    "run_admitted": runs.fold_run_admitted,
    "run_resumed": runs.fold_run_resumed,
    "run_taken": runs.fold_run_taken,
    "run_released": runs.fold_run_released,
    "run_imported": runs.fold_run_imported,
    "run_ended": runs.fold_run_ended,
}
"""The fold of each kind of event; only a rewind needs more than the event, namely the state it goes back to."""

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
from handrail.engine.state.transitions import IllegalMove, require
from handrail.late_import import late_import
from handrail.model.history import events as ev
from handrail.model.history.run_state import RunState, changed

if TYPE_CHECKING:
    from handrail.engine.fold import clocks
else:
    clocks = late_import("handrail.engine.fold.clocks")


def apply(state: RunState | None, event: ev.Event, seq: int, blobs: Blobs) -> RunState:
    """Return the state after an event."""
    require("" if state is None else state.status, event.kind)
    if state is None:
        return replace(runs.begun(event, blobs), seq=seq)
    if seq != state.seq + 1:
        raise IllegalMove(f"event {seq} follows event {state.seq}")
    after = runs.rewound(state, event, blobs) if isinstance(event, ev.RunRewound) else _FOLDS[event.kind](state, event)
    # `clock_noted` shifts `counts_from` itself, and counting would put the old value back.
    if state.timeout is not None and event.kind != "clock_noted":
        after = clocks.counted(state, after, event.at)
    return after if after.seq == seq else changed(after, seq=seq)


_FOLDS: dict[str, Callable[[RunState, Any], RunState]] = {
    "workspace_ready": works.workspace_ready,
    "tree_restored": works.tree_restored,
    "files_compared": works.files_compared,
    "work_entered": works.work_entered,
    "work_left": works.work_left,
    "item_started": works.item_started,
    "item_ended": works.item_ended,
    "question_asked": works.question_asked,
    "question_answered": works.question_answered,
    "message_given": messages.given,
    "step_skipped": steps.skipped,
    "step_chosen": guided.chosen,
    "step_refused": steps.refused,
    "work_reported": guided.reported,
    "delegation_reported": guided.delegation_reported,
    "checkpoint_made": guided.noted,
    "tool_called": agent_tools.called,
    "child_ended": agent_tools.child_over,
    "preferences_set": guided.preferences_set,
    "gap_recorded": guided.gap_recorded,
    "capability_observed": guided.capability_observed,
    "context_merged": guided.context_merged,
    "step_began": steps.began,
    "step_ended": steps.ended,
    "call_requested": flows.requested,
    "step_passed_over": steps.passed_over,
    "retry_scheduled": steps.retry,
    "timer_fired": steps.fired,
    "loop_entered": blocks.loop_entered,
    "round_started": blocks.round_started,
    "round_ended": blocks.round_ended,
    "loop_ended": blocks.loop_ended,
    "group_entered": blocks.group_entered,
    "group_left": blocks.group_left,
    "approval_requested": approvals.asked,
    "approval_decided": approvals.answered,
    "child_started": steps.child_started,
    "command_refused": runs.command_refused,
    "person_notified": runs.person_notified,
    "git_settings_changed": runs.git_settings_changed,
    "clock_noted": runs.clock_noted,
    "run_waits": runs.waits,
    "run_blocked": runs.blocked,
    "run_queued": runs.queued,
    "run_admitted": runs.admitted,
    "run_resumed": runs.resumed,
    "run_taken": runs.taken,
    "run_released": runs.released,
    "run_imported": runs.imported,
    "run_ended": runs.over,
}
"""The fold of each kind of event; only a rewind needs more than the event, namely the state it goes back to."""

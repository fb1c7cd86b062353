"""Which events may follow in which status, as a table; an illegal move is a missing entry and one error.

1. A run begins with run_started or run_forked, and only then.
2. Steps move only while the run is running; answers come only while it waits for them.
3. ANYTIME lists what a person or the outside may do at any time.
4. A queued run does nothing until it is admitted; it may be paused and ended.
5. succeeded and cancelled are final, except for a rewind; failed and blocked may be resumed. Even then it is recorded
   that an agent tried a command in vain, that a person accepted changed git settings, and that the clock was set before
   a rewind.
"""

from handrail.errors import HandrailError

MOVES = frozenset(
    {
        "workspace_ready",
        "tree_restored",
        "work_entered",
        "work_left",
        "item_started",
        "item_ended",
        "question_asked",
        "step_skipped",
        "step_chosen",
        "step_began",
        "step_ended",
        "step_refused",
        "work_reported",
        "delegation_reported",
        "context_merged",
        "call_requested",
        "step_passed_over",
        "retry_scheduled",
        "loop_entered",
        "round_started",
        "round_ended",
        "loop_ended",
        "group_entered",
        "group_left",
        "approval_requested",
        "child_started",
        "run_waits",
        "run_blocked",
        "run_queued",
        "run_ended",
    }
)
ANYTIME = frozenset(
    {
        "run_rewound",
        "run_taken",
        "run_released",
        "message_given",
        "checkpoint_made",
        "preferences_set",
        "gap_recorded",
        "capability_observed",
        "tool_called",
        "child_ended",
        "command_refused",
        "person_notified",
        "git_settings_changed",
        "clock_noted",
        "files_compared",
    }
)

IMPORTED = frozenset({"run_imported"})
"""Recorded after the imported history, however that ended."""

ALLOWED: dict[str, frozenset[str]] = {
    "": frozenset({"run_started", "run_forked"}),
    "queued": ANYTIME | IMPORTED | {"run_queued", "run_admitted", "run_waits", "run_blocked", "run_ended"},
    "running": MOVES | ANYTIME | IMPORTED | {"timer_fired", "run_admitted"},
    "waiting": ANYTIME
    | IMPORTED
    | {"tree_restored", "workspace_ready", "item_ended", "question_answered"}
    | {
        "approval_decided",
        "step_passed_over",
        "timer_fired",
        "run_resumed",
        "run_ended",
        "run_blocked",
        "step_ended",
        "run_waits",
    },
    "blocked": ANYTIME | IMPORTED | {"run_resumed", "run_ended", "step_ended", "context_merged", "tree_restored"},
    "failed": ANYTIME | IMPORTED | {"run_resumed", "run_ended", "tree_restored"},
    "succeeded": IMPORTED | {"run_rewound", "command_refused", "git_settings_changed", "clock_noted", "files_compared"},
    "cancelled": IMPORTED | {"command_refused", "git_settings_changed"},
}
"""The status of the run (empty: there is none yet) with the kinds of event that may follow."""


class IllegalMove(HandrailError):
    """An event does not follow from the state: a bug in Handrail, or a damaged log."""

    code = "illegal-move"


def require_allowed(status: str, kind: str) -> None:
    """Refuse an event that may not follow."""
    if kind not in ALLOWED[status]:
        raise IllegalMove(f"'{kind}' cannot follow while a run is {status or 'not started'}")

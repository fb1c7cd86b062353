"""What is stored beside a run's events: a summary, so that lists need not fold them, and its timers."""

from typing import TYPE_CHECKING, cast

from handrail.errors import HandrailError
from handrail.late_import import late_import
from handrail.model.codec import encode
from handrail.model.history.run_lines import UNREADABLE, USUAL
from handrail.model.history.run_state import Frame, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import TimerCleared, TimerSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from handrail.engine.text import byte_limits
else:
    byte_limits = late_import("handrail.engine.text.byte_limits")

TIMEOUT = "timeout"
"""The key of the timer that limits the whole run."""
MAX_GOAL = 320
MAX_RECAP = 1_600
"""The longest text stored for finding a run, in bytes."""


def summary_of(state: RunState) -> dict[str, JsonValue]:
    """Build the summary of a run that lists show; default values are left out."""
    summary: dict[str, JsonValue] = {
        "run": state.run,
        "workflow": state.workflow,
        "hash": state.definition,
        "status": state.status,
        "plan": state.plan,
        "started_at": state.started_at,
        "workspace": state.workspace,
        "current_step": _current(state),
    }
    if state.reason or state.message or state.next_step or state.until or state.ended_at or state.failure is not None:
        summary |= _status_fields(state)
    if state.spent.usd or state.spent.unpriced:
        # The known cost; None where no price is known.
        summary["cost"] = None if state.spent.unpriced and not state.spent.usd else state.spent.usd
        summary["unpriced"] = state.spent.unpriced
    progress = _progress(state)
    if progress is not None:
        summary["progress"] = progress
    summary |= _origin_fields(state)
    repository, about = repository_of(state), _goal_text(state)
    if repository:
        summary["repository"] = repository
    if about:
        summary["about"] = about
    if state.imported:
        summary["imported"] = True
    if state.admission is not None:
        line: dict[str, JsonValue] = {"needs": encode(state.admission), "queued": state.queued}
        summary["admission"] = {**line, "admitted": state.admitted}
    summary |= _notices(state)
    return {**summary, **_lookup_fields(state)} if state.held_by else summary


def repository_of(state: RunState) -> str:
    """Return the repository that a run works in, by the folder of the user's checkout; empty where it is in none."""
    place = state.tree or state.source or (None if state.foreign else state.pinned)
    return str(state.observed.get("root", "")) if place is None else place.repository


def _goal_text(state: RunState) -> str:
    """Describe what a run is about: the beginning of its inputs, whose whole text is in its first event."""
    return " ".join(value[:MAX_GOAL] for value in state.inputs.values() if isinstance(value, str))[:MAX_GOAL]


def _origin_fields(state: RunState) -> dict[str, JsonValue]:
    """Return which run started it, and which one a person started; its issue; and when it was imported."""
    found: dict[str, JsonValue] = {"born": state.born} if state.born else {}
    if state.issue:
        found["on_issue"] = state.issue
    return found if state.parent is None else {**found, "parent": state.parent.run, "root": state.family}


def _notices(state: RunState) -> dict[str, JsonValue]:
    """Return what a person should know besides the run's status."""
    found: dict[str, JsonValue] = {}
    if state.said[1] and state.pending is not None and state.said[0] == state.pending.seq:
        found["said"] = state.said[1]
    gaps = len(state.open_gaps) if state.gaps else 0
    if gaps:
        found["gaps"] = gaps
    if state.tried:
        _, at, by, command = state.tried[-1]
        found["tried"] = {"at": at, "by": by, "command": command}
    if state.git_changes:
        found["git_changes"] = {"at": state.git_changed_at, "changes": list(state.git_changes)}
    return found


def unreadable_summary(run: str, line: "Mapping[str, JsonValue]", error: HandrailError) -> dict[str, JsonValue]:
    """Build the summary of a run whose history cannot be read, on top of its earlier summary."""
    said: dict[str, JsonValue] = {
        "status": "blocked",
        "reason": "fault",
        "message": error.message,
        "next_step": error.next_step or "",
        UNREADABLE: True,
    }
    return {"run": run, "workflow": run.rpartition("-")[0] or run, "started_at": 0.0, **line, **said}


def _status_fields(state: RunState) -> dict[str, JsonValue]:
    """Return why a run does not move, or since when; empty while steps follow one another."""
    failure = state.failure
    found: dict[str, JsonValue] = {
        "reason": state.reason,
        "message": state.message,
        "next_step": state.next_step,
        "completed_at": state.ended_at,
        "until": state.until if failure is None else failure.retry_at or state.until,
        "quota": failure is not None and failure.blocks == "budget" and bool(failure.retry_at),
        "error": state.message if state.status == "failed" else None,
    }
    return {name: value for name, value in found.items() if value != USUAL[name]}


def _lookup_fields(state: RunState) -> dict[str, JsonValue]:
    """Return what a connected agent finds its run by; runs of the engine do not store it at every step."""
    newest = state.steps.get(state.previous)
    pending = state.steps.get(state.pending.address) if state.pending is not None else None
    notes = "" if newest is None else newest.stdout.strip() or newest.summary
    return {
        "held_by": state.held_by,
        "goal": byte_limits.cut(state.task[: MAX_GOAL + 1], MAX_GOAL, byte_limits.DOTS),
        "recap": byte_limits.cut(notes[: MAX_RECAP + 1], MAX_RECAP, byte_limits.DOTS),
        "observed": dict(state.observed),
        "active_at": state.ended_at or (pending.began_at if pending is not None else 0) or state.started_at,
    }


def _current(state: RunState) -> str | None:
    if state.status in ("succeeded", "cancelled"):
        return None
    if state.status == "blocked" and state.blocked_at:
        return state.blocked_at
    if state.pending is not None:
        return state.pending.address
    if state.failure is not None:
        return state.failure.address
    return state.previous or None


def _progress(state: RunState) -> dict[str, JsonValue] | None:
    """Return how far the current step is: the number of a fix, a round, an item or a try, and the total if known."""
    if state.status in ("succeeded", "failed", "cancelled"):
        return None
    of_work = _work_progress(state.stack[-1]) if state.stack else None
    if of_work is not None:
        return of_work
    pending, failure = state.pending, state.failure
    if pending is not None and pending.attempt > 1:
        return _progress_entry(pending.address, "try", pending.attempt)
    if failure is not None:
        attempt = failure.attempt + (1 if failure.retry_at and failure.hindrance == "try" else 0)
        return _progress_entry(failure.address, "try", attempt) if attempt > 1 else None
    return None


def _work_progress(frame: Frame) -> dict[str, JsonValue] | None:
    work = frame.work
    if work is None:
        return None
    match work.action:
        case "gate":
            used = cast("int", work.data["used"]) + (1 if work.data["phase"] == "fix" else 0)
            return _progress_entry(work.address, "fix", used) if used else None
        case "agent-loop":
            return _progress_entry(work.address, "round", cast("int", work.data["round"]))
        case "parallel-agents":
            results = cast("dict[str, dict[str, JsonValue]]", work.data["results"])
            done = sum(each.get("status") == "succeeded" for each in results.values())
            return _progress_entry(work.address, "items", done, len(cast("list[str]", work.data["keys"])))
        case _:
            return None


def _progress_entry(address: str, what: str, number: int, of: int | None = None) -> dict[str, JsonValue]:
    return {"address": address, "what": what, "number": number, "of": of}


def timers_of(before: RunState, state: RunState) -> tuple[TimerSet | TimerCleared, ...]:
    """Return the changes to a run's timers: the one that it waits for, and the one of its timeout."""
    deadline = () if before.deadline == state.deadline else _deadline(state)
    if before.until is None and state.until is None:
        return deadline
    return (*deadline, *_waits(state))


def _deadline(state: RunState) -> tuple[TimerSet | TimerCleared, ...]:
    return (TimerCleared(TIMEOUT) if state.deadline is None else TimerSet(TIMEOUT, state.deadline),)


def _waits(state: RunState) -> tuple[TimerSet | TimerCleared, ...]:
    for key, reason in (("retry", "timer"), ("retry", "quota"), ("approval", "approval")):
        if state.status == "waiting" and state.reason == reason and state.until is not None:
            return (TimerSet(key, state.until),)
    return (TimerCleared("retry"), TimerCleared("approval"))

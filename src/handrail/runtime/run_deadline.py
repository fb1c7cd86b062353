"""Ends a run that exceeded its timeout."""

from handrail.engine.composite.fan_out import running_items
from handrail.model.history.events import Event, RunEnded
from handrail.model.history.run_state import RunState
from handrail.ports.log import Log
from handrail.runtime.history import state_of

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def end_late(log: Log, state: RunState, now: float) -> tuple[Event, ...]:
    """End a run that took longer than its timeout; not while all runs that it called wait for a person."""
    awaited = _find_child_runs(state)
    if awaited and not any(_is_moving(log, each) for each in awaited):
        return ()
    message = f"the run took longer than its timeout of {_duration(state.timeout or 0)}"
    return (RunEnded(status="failed", reason="timeout", message=message, at=now),)


def _find_child_runs(state: RunState) -> tuple[str, ...]:
    pending = state.pending
    if pending is None or pending.kind not in ("child", "items"):
        return ()
    return running_items(state) if pending.kind == "items" else (pending.child,)


def _is_moving(log: Log, run: str) -> bool:
    """Whether a run that was called goes on without a person, or has yet to begin."""
    if not log.last(run).seq:
        return True
    state = state_of(log, run)
    inner = _find_child_runs(state) if state.status == "running" else ()
    if inner:
        return any(_is_moving(log, each) for each in inner)
    return state.status in ("queued", "running", "succeeded", "failed") or state.reason in ("timer", "quota")


def _duration(seconds: int) -> str:
    """Format a time as workflows write it: `1h30m`."""
    words = ""
    for length, unit in _UNITS:
        count, seconds = divmod(seconds, length)
        words += f"{count}{unit}" if count else ""
    return words or "0s"

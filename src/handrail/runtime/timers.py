"""The timer that a run needs where it stands."""

from handrail.model.history.run_state import RunState
from handrail.ports.log import TimerCleared, TimerSet


def timers_of(before: RunState, state: RunState) -> tuple[TimerSet | TimerCleared, ...]:
    """The one timer that a waiting run may have; none is touched while there is none."""
    if before.until is None and state.until is None:
        return ()
    for key, reason in (("retry", "timer"), ("retry", "quota"), ("approval", "approval")):
        if state.status == "waiting" and state.reason == reason and state.until is not None:
            return (TimerSet(key, state.until),)
    return (TimerCleared("retry"), TimerCleared("approval"))

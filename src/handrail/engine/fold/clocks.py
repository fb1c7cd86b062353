"""Shifts the times of a run when the clock was set, so that waits and measured durations keep their length."""

from dataclasses import replace
from typing import Any

from handrail.model.history.run_state import CLOCK_JUMP, Failure, RunState, update_state


def align_with_clock(state: RunState, boot: str, ahead: float) -> RunState:
    """Return a state adjusted to another reading of the clock; after a reboot its times stay as they are."""
    if state.boot != boot:
        return shift_times(state, boot, ahead, 0.0)
    by = ahead - state.ahead
    return shift_times(state, boot, ahead, by) if abs(by) > CLOCK_JUMP else state


def shift_times(state: RunState, boot: str, ahead: float, by: float) -> RunState:
    """Return a state after the clock was set by a number of seconds.

    What is over keeps the times that it had. So does a wait for a usage limit: the provider announced its end as a time
    of day.
    """
    known: dict[str, Any] = {"boot": boot, "ahead": ahead, "set_by": state.set_by + by}
    if not by:
        return update_state(state, **known)
    steps = state.steps
    for address, step in state.steps.items():
        if step.ended_at is None and step.status in ("running", "waiting"):
            steps = steps.insert(address, step._replace(began_at=step.began_at + by))
    known |= {"steps": steps, "ended_at": None if state.ended_at is None else state.ended_at + by}
    if state.counts_from is not None:
        known["counts_from"] = state.counts_from + by
    if not waits_for_limit(state.failure):
        known |= {
            "until": None if state.until is None else state.until + by,
            "failure": _shift_retry(state.failure, by),
        }
    return update_state(state, **known)


def count_time(before: RunState, after: RunState, at: float) -> RunState:
    """Add up a run's time, which stops while the run waits for a person or in the queue.

    A run that had ended and continues gets its whole time again.
    """
    since, used = before.counts_from, before.counted
    if before.status in ("succeeded", "failed"):
        since, used = None, 0.0
    if is_counting(after):
        return update_state(after, counts_from=at if since is None else since, counted=used)
    return update_state(after, counts_from=None, counted=used if since is None else used + max(0.0, at - since))


def is_counting(state: RunState) -> bool:
    """Whether the time of a run counts: it is running, or waits only for a time."""
    return state.status == "running" or (state.status == "waiting" and state.reason in ("timer", "quota"))


def waits_for_limit(failure: Failure | None) -> bool:
    """Whether the next attempt waits until an account may be used again."""
    return failure is not None and failure.hindrance == "wait" and failure.blocks == "budget"


def _shift_retry(failure: Failure | None, by: float) -> Failure | None:
    return replace(failure, retry_at=failure.retry_at + by) if failure is not None and failure.retry_at else failure

"""Points of a run's history: where a token stands, and where the call that used it led."""

from collections.abc import Iterable
from itertools import pairwise

from handrail.engine.fold.apply import apply
from handrail.frozen import frozen
from handrail.model.history.events import (
    DelegationReported,
    Event,
    RunBlocked,
    RunResumed,
    StepEnded,
    StepRefused,
    WorkReported,
)
from handrail.model.history.run_state import RunState
from handrail.operations.pull.desk import Desk
from handrail.operations.pull.pending_step import waits_for_holder
from handrail.runtime.event_records import from_log
from handrail.runtime.history import state_before

_OUTCOMES = (StepEnded, StepRefused, DelegationReported, WorkReported)


@frozen
class Reached:
    """Where a call led: the state there, and the events since the call; settled once nothing more follows from it."""

    state: RunState
    events: tuple[Event, ...]
    settled: bool


def reached_from(desk: Desk, run: str, seq: int, *, through: bool = False) -> Reached | None:
    """Give where the call led that answered for a pending event; None where no call did.

    `through` follows it over a standstill after which the run was resumed.
    """
    first = outcome_of(desk, run, seq)
    if first is None:
        return None
    later = (from_log(stored) for stored in desk.log.read(run, after=first - 1))
    return first_stand(desk, state_before(desk.log, run, first), later, through=through)


def first_stand(desk: Desk, state: RunState, events: Iterable[Event], *, through: bool = False) -> Reached:
    """Follow events to the first point from which only the outside goes on."""
    happened: list[Event] = []
    stood: Reached | None = None
    answered = None if state.pending is None else state.pending.seq
    for event, following in pairwise((*events, None)):
        if event is None:
            break
        state = apply(state, event, state.seq + 1, desk.log.get_blob)
        happened.append(event)
        stood = None if isinstance(event, RunResumed) else stood
        # A refusal too many is followed by the run being blocked: both belong to one answer.
        one_too_many = isinstance(event, StepRefused) and isinstance(following, RunBlocked)
        # What comes before the outcome, such as a context, leaves the step pending as it was.
        still = state.pending is not None and state.pending.seq == answered
        if stands(state) and not one_too_many and not still and stood is None:
            stood = Reached(state, tuple(happened), settled=True)
            if not through or state.status != "blocked":
                return stood
    return stood or Reached(state, tuple(happened), settled=False)


def outcome_of(desk: Desk, run: str, seq: int) -> int | None:
    """Find the event that says what became of a pending one."""
    for stored in desk.log.read(run, after=seq):
        event = from_log(stored)
        if isinstance(event, _OUTCOMES) and event.began == seq:
            return stored.seq
    return None


def stands(state: RunState) -> bool:
    """Tell whether a run goes on only by the outside: its holder, a person, a time, or nothing at all."""
    return state.status != "running" or waits_for_holder(state)

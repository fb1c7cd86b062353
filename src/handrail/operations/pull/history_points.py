"""Points of a run's history: where a token is, and where the call that used it led.

The connection of an agent may break at any moment: it may send a call twice, or lose the answer and ask again, even
of another process. Yet a step must be completed once, and a repeated call must get the same answer. The log alone
ensures this; nobody stores calls or answers:

1. A token names a point: a run, and the number of the event that made its step pending. It is signed, and names who
   holds the run.
2. A pending event has at most one outcome: the event that names it as its beginning (`outcome_of`). So whether a
   token was used is a question to the log, not the memory of a server.
3. The answer to a call is the first state after that outcome from which only the outside can continue
   (`follow_to_standstill`): the holder, a person, a timer, or nothing. The events up to there never change, and the
   state is folded from them alone, so the same token leads to the same answer, whichever process gives it.
4. Until that state is reached, the answer is not settled: the agent learns that the engine is at work, and asks again.
5. To continue from an earlier point never rewrites history: a token made there names a branch, and the first call
   with it forks the run (`branches`).
"""

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
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.pending_step import waits_for_holder
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_before

_OUTCOMES = (StepEnded, StepRefused, DelegationReported, WorkReported)


@frozen
class CallOutcome:
    """Where a call led: the state there, and the events since the call; settled once nothing more follows from it."""

    state: RunState
    events: tuple[Event, ...]
    settled: bool


def follow_outcome(ctx: CallContext, run: str, seq: int, *, through: bool = False) -> CallOutcome | None:
    """Find where the call led that completed a pending event; None if no call did.

    `through` follows it past a block after which the run was resumed.
    """
    first = outcome_of(ctx, run, seq)
    if first is None:
        return None
    later = (decode_event(stored) for stored in ctx.log.read(run, after=first - 1))
    return follow_to_standstill(ctx, state_before(ctx.log, run, first), later, through=through)


def follow_to_standstill(
    ctx: CallContext, state: RunState, events: Iterable[Event], *, through: bool = False
) -> CallOutcome:
    """Follow events to the first point from which only the outside can continue."""
    happened: list[Event] = []
    stood: CallOutcome | None = None
    answered = None if state.pending is None else state.pending.seq
    for event, following in pairwise((*events, None)):
        if event is None:
            break
        state = apply(state, event, state.seq + 1, ctx.log.get_blob)
        happened.append(event)
        stood = None if isinstance(event, RunResumed) else stood
        # One refusal too many is followed by the run being blocked: both belong to one answer.
        one_too_many = isinstance(event, StepRefused) and isinstance(following, RunBlocked)
        # What precedes the outcome, such as a context, leaves the step pending as it was.
        still = state.pending is not None and state.pending.seq == answered
        if is_at_standstill(state) and not one_too_many and not still and stood is None:
            stood = CallOutcome(state, tuple(happened), settled=True)
            if not through or state.status != "blocked":
                return stood
    return stood or CallOutcome(state, tuple(happened), settled=False)


def outcome_of(ctx: CallContext, run: str, seq: int) -> int | None:
    """Find the event that is the outcome of a pending one."""
    for stored in ctx.log.read(run, after=seq):
        event = decode_event(stored)
        if isinstance(event, _OUTCOMES) and event.began == seq:
            return stored.seq
    return None


def is_at_standstill(state: RunState) -> bool:
    """Return whether only the outside can continue a run: its holder, a person, a timer, or nothing at all."""
    return state.status != "running" or waits_for_holder(state)

"""Branches of a run: a token from a point before the newest step begins a fork, always the same one."""

from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.state.preferences import PreferenceChange, decide_preferences
from handrail.errors import VersionConflict
from handrail.frozen import frozen
from handrail.model.history.events import Event, RunForked, RunTaken
from handrail.model.history.run_state import RunState
from handrail.model.tokens import Token
from handrail.operations.pull.call_context import CallContext, PullError, holder_name
from handrail.operations.pull.history_points import follow_to_standstill
from handrail.operations.runs.lifecycle import copy_at
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import plan_of, state_before, state_of


@frozen
class Branch:
    """A fork of a run that a token began."""

    run: str
    seq: int
    """The event that made its first step pending; 0 while the engine is still getting there."""
    holder: str


def branch_of(ctx: CallContext, token: Token) -> Branch:
    """Return the branch of a token; the first call creates it, even if several processes call at once."""
    run = f"{token.run}-b{token.branch}"
    if not ctx.log.last(run).seq:
        try:
            ctx.writer.begin(run, *_first_events(ctx, token, run))
        except VersionConflict:
            # Another process was first, with the same events.
            return branch_of(ctx, token)
    return Branch(run, _first_step(ctx, run), token.branch)


def _first_events(ctx: CallContext, token: Token, run: str) -> tuple[Event, ...]:
    source = state_of(ctx.log, token.run)
    at = state_before(ctx.log, token.run, token.seq + 1)
    if at.pending is None or at.pending.seq != token.seq:
        message = f"the point of this token is not in the history of {token.run}"
        raise PullError("TOKEN_STALE", message, next_step="call resume_session to find the run again")
    began = at.steps[at.pending.address].began
    forked = copy_at(ctx.log, source, began, run, holder_name(token.branch))
    return (forked, *_decide_after_fork(ctx, forked, source, token.branch))


def _decide_after_fork(ctx: CallContext, forked: RunForked, source: RunState, holder: str) -> tuple[Event, ...]:
    """Return the first events of a branch; a person's preferences hold there too, so going back does not evade them."""
    blobs, plan = ctx.log.get_blob, plan_of(ctx.log, source.plan)
    state = apply(None, forked, 1, blobs)
    taken = RunTaken(by=holder_name(holder), hands="agents", at=forked.at)
    change = PreferenceChange(by="", autonomy=source.autonomy, risk=source.risk)
    first = (taken, *decide_preferences(plan, state, change, forked.at))
    for event in first:
        state = apply(state, event, state.seq + 1, blobs)
    return (*first, *advance(plan, state, forked.at, blobs, ctx.agents.catalog.names).events)


def _first_step(ctx: CallContext, run: str) -> int:
    first, *later = (decode_event(stored) for stored in ctx.log.read(run))
    reached = follow_to_standstill(ctx, apply(None, first, 1, ctx.log.get_blob), later)
    pending = reached.state.pending
    return pending.seq if reached.settled and pending is not None else 0

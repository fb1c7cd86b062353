"""Lets a connected agent look again at its step, which records nothing, and save a point to come back to."""

from dataclasses import replace

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.history.events import CheckpointMade
from handrail.model.history.run_state import RunState
from handrail.model.tokens import NO_BRANCH, Token
from handrail.operations.pull.answer_context import add_return_context, add_start_context
from handrail.operations.pull.answers import Answer, Caution, answer_at
from handrail.operations.pull.call_context import CallContext, PullError, holder_name, new_name
from handrail.operations.pull.continue_workflow import require_holder
from handrail.operations.pull.pending_step import waits_for_holder
from handrail.operations.runs.lease import acquire_lease
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import StateCache, plan_of, state_before
from handrail.runtime.recorder import Recorder


def rehydrate(ctx: CallContext, token: Token, *, first: bool = False) -> Answer:
    """Return the step of a token again with what led there; before the newest step, continuing begins a branch.

    `first` says that the agent that started the run has not seen its first step yet.
    """
    run = token.run if token.branch == NO_BRANCH else _find_branch_run(ctx, token)
    state = ctx.known.fold_run(ctx.log, run).state
    if token.kind == "continue":
        require_holder(ctx, state, replace(token, holder=token.holder if run == token.run else token.branch))
    at_tip = token.seq == 0 or run != token.run or _is_newest(state, token.seq)
    answer = answer_at(ctx, state, "rehydrate") if at_tip else _answer_earlier_point(ctx, token)
    if answer.working:
        ctx.wake(run)
    else:
        # Whoever has seen the state of the run no longer waits for the answer to an earlier call.
        ctx.forget(run)
    return add_start_context(ctx, answer) if first else add_return_context(ctx, answer)


def _find_branch_run(ctx: CallContext, token: Token) -> str:
    """Return the branch of a token, or its source if nobody has begun the branch yet."""
    run = f"{token.run}-b{token.branch}"
    return run if ctx.log.last(run).seq else token.run


def _is_newest(state: RunState, seq: int) -> bool:
    """Return whether nothing was decided since: the step is still pending."""
    pending = state.pending
    return pending is not None and (pending.seq == seq or state.steps[pending.address].began == seq)


def _answer_earlier_point(ctx: CallContext, token: Token) -> Answer:
    try:
        state = state_before(ctx.log, token.run, token.seq + 1)
    except NotFound as error:
        raise PullError("TOKEN_UNKNOWN_NODE", error.message, next_step="call resume_session") from error
    if not waits_for_holder(state):
        return answer_at(ctx, ctx.known.fold_run(ctx.log, token.run).state, "rehydrate")
    answer = answer_at(ctx, state, "rehydrate", branch=new_name())
    message = f"{token.run} has continued since this point: continuing from here starts a separate branch"
    return replace(answer, warnings=(Caution(code="NON_TIP_POINT", message=message),))


@frozen
class ResumePoint:
    """A saved point, with the token that returns to it."""

    run: str
    address: str
    resume_token: str


def checkpoint(ctx: CallContext, token: Token) -> ResumePoint:
    """Save the point of a token; saving it twice has no further effect."""
    state = ctx.known.fold_run(ctx.log, token.run).state
    require_holder(ctx, state, token)
    lease = acquire_lease(ctx.log, token.run, holder_name(token.holder))
    try:
        found = StateCache().fold_run(ctx.log, token.run)
        at = state_before(ctx.log, token.run, token.seq + 1)
        address = at.pending.address if at.pending is not None else at.previous
        events = (decode_event(stored) for stored in ctx.log.read(token.run, after=token.seq))
        if not any(isinstance(event, CheckpointMade) and event.began == token.seq for event in events):
            made = CheckpointMade(address=address, began=token.seq, by=holder_name(token.holder), at=ctx.clock())
            redactor, names = ctx.writer.redactor_for(token.run), ctx.agents.catalog.names
            recorder = Recorder(ctx.log, lease, ctx.clock, redactor, found.checkpointed, ctx.known, agent_names=names)
            recorder.commit(recorder.turn(plan_of(ctx.log, found.state.plan), found.state, (made,)))
    finally:
        ctx.log.release(lease)
    return ResumePoint(token.run, address, ctx.mint("resume", token.run, token.seq, token.holder))

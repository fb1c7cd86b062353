"""Accepts what a connected agent hands in for its step, once: the same token always gets the same answer."""

import json
from dataclasses import field, replace

from handrail.engine.decide.complete_guided import Submission, complete_guided
from handrail.engine.fold.apply import apply
from handrail.engine.state.agent_calls import GUIDED
from handrail.engine.state.position import find_current_step
from handrail.frozen import frozen
from handrail.model.actors import actor_words
from handrail.model.history.events import RunResumed, StepEnded, StepRefused, WorkReported
from handrail.model.history.run_state import Pending, RunState
from handrail.model.tokens import NO_BRANCH, Token
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answers import Answer, Caution, answer_at
from handrail.operations.pull.branches import branch_of
from handrail.operations.pull.call_context import CallContext, PullError, holder_name
from handrail.operations.pull.decision_trace import make_non_tip_entry
from handrail.operations.pull.history_points import follow_outcome, follow_to_standstill
from handrail.operations.pull.pending_step import find_due_step, is_repairable, waits_for_holder
from handrail.operations.pull.tries import Try, is_judged_anew, is_pending_point, is_repeated, tries_of
from handrail.operations.runs.lease import acquire_lease
from handrail.operations.runs.lifecycle import event_key
from handrail.runtime.history import plan_of, state_before
from handrail.runtime.recorder import Recorder


@frozen(kw_only=True)
class StepSubmission:
    """What an agent hands in for its step."""

    notes: str = ""
    artifacts: tuple[JsonValue, ...] = ()
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    result: JsonValue = None
    """The result of a step that asks for a certain shape."""


def advance_pulled(ctx: CallContext, token: Token, handed: StepSubmission) -> Answer:
    """Complete the step of a token; a token that was used before returns the answer it returned then."""
    here = move_to_branch(ctx, token)
    ctx.offer(here.run)
    state = ctx.known.fold_run(ctx.log, here.run).state
    require_holder(ctx, state, here)
    call = _Call(here, handed, ctx.record_first_call(here, state.seq))
    try:
        answer = _advance(ctx, call, state)
    except BaseException:
        ctx.asked.pop(here, None)
        raise
    if not answer.working:
        ctx.asked.pop(here, None)
    if here.run == token.run:
        return answer
    return replace(answer, trace=(make_non_tip_entry(token.run, here.run), *answer.trace))


@frozen
class _Call:
    """A call that hands in a step."""

    token: Token
    handed: StepSubmission
    since: int
    """The newest event when it arrived: it repairs a refusal up to there, and a later one is its answer."""


def _advance(ctx: CallContext, call: _Call, state: RunState) -> Answer:
    token = call.token
    of_step = bool(token.seq) and is_pending_point(ctx, token.run, token.seq)
    address = _find_blocked_address(ctx, token) if token.seq and not of_step else ""
    last: Try | None = None
    for tried in tries_of(ctx, token.run, token.seq, address) if of_step or address else ():
        if tried.outcome is None:
            return _hand_in(ctx, call, state, tried)
        if not tried.is_refused:
            return _repeat_completion(ctx, call, state, tried)
        last = tried
        if tried.over > call.since or _is_answered(ctx, tried, call.handed):
            return _repeat_refusal(ctx, tried)
    if last is not None and last.outcome is not None:
        address = last.outcome.address
    due = find_due_step(ctx, state)
    meant = last is not None or not of_step
    if meant and is_repairable(state) and state.seq <= call.since and address == ("" if due is None else due.address):
        return _look_again(ctx, token, state)
    return answer_again(ctx, token, state) if last is None else _repeat_refusal(ctx, last)


def _find_blocked_address(ctx: CallContext, token: Token) -> str:
    """Return the address of the agent's step at which the run was blocked when a token was made; empty if none."""
    due = find_due_step(ctx, state_before(ctx.log, token.run, token.seq + 1))
    return "" if due is None else due.address


def _is_answered(ctx: CallContext, tried: Try, handed: StepSubmission) -> bool:
    """Return whether a refused try is handed in again unchanged, so that it gets its answer again."""
    if not isinstance(tried.outcome, StepRefused) or is_judged_anew(ctx, tried):
        return False
    if any(each.code == "not_proven" for each in tried.outcome.shortfalls):
        return False
    return is_repeated(ctx, tried, _make_given(handed), handed.result)


def _repeat_refusal(ctx: CallContext, tried: Try) -> Answer:
    reached = follow_outcome(ctx, tried.run, tried.began)
    if reached is None:
        raise LookupError(f"event {tried.began} of {tried.run} has no outcome")
    if not reached.settled:
        ctx.wake(tried.run)
    return answer_at(ctx, reached.state, "advance", reached.events)


def _repeat_completion(ctx: CallContext, call: _Call, state: RunState, tried: Try) -> Answer:
    """Return the answer that a completed step led to; a check that still fails is repeated."""
    reached = follow_outcome(ctx, tried.run, tried.began, through=True)
    if reached is None or not reached.settled:
        ctx.wake(tried.run)
        return _answer_working(ctx, state if reached is None else reached.state)
    if (
        is_repairable(reached.state)
        and find_due_step(ctx, state) is None
        and _is_still_blocked(reached.state, state, call.since)
    ):
        return _look_again(ctx, call.token, state)
    answer = answer_at(ctx, reached.state, "advance", reached.events)
    if is_repeated(ctx, tried, _make_given(call.handed), call.handed.result):
        return answer
    return replace(answer, warnings=(*answer.warnings, _make_reuse_caution(ctx, state)))


def _is_still_blocked(stood: RunState, state: RunState, since: int) -> bool:
    """Return whether a run is still blocked at the same place, and was when a call arrived."""
    return is_repairable(state) and state.seq <= since and state.blocked_at == stood.blocked_at


def _make_reuse_caution(ctx: CallContext, state: RunState) -> Caution:
    newest = answer_at(ctx, state, "rehydrate").continue_token
    where = "the run has ended" if newest is None else f"the newest token is {newest}"
    message = f"this token was used before, with another output: what you sent now was ignored, and {where}"
    return Caution(code="TOKEN_ALREADY_USED", message=message, data={} if newest is None else {"newestToken": newest})


def _hand_in(ctx: CallContext, call: _Call, state: RunState, tried: Try) -> Answer:
    """Complete the pending step, or describe what it waits for."""
    token, pending, due = call.token, state.pending, find_due_step(ctx, state)
    if pending is None or due is None or pending.seq != tried.began or due.seq != tried.began:
        return answer_again(ctx, replace(token, seq=tried.began), state)
    if pending.action in GUIDED:
        done = _complete_guided_step(ctx, replace(token, seq=tried.began), call.handed)
        # Another process may have been first: then its try counts, and this call comes after it.
        return done or _advance(ctx, call, ctx.known.fold_run(ctx.log, token.run).state)
    _report(ctx, replace(token, seq=tried.began), call.handed)
    return answer_again(ctx, replace(token, seq=tried.began), state)


def _look_again(ctx: CallContext, token: Token, state: RunState) -> Answer:
    """Let the engine continue a run that its holder has repaired."""
    key = f"resume:{event_key(ctx.log, token.run, state.seq)}"
    ctx.writer.send(token.run, key, "resume", by=holder_name(token.holder))
    ctx.wake(token.run)
    return _answer_working(ctx, state)


def _answer_working(ctx: CallContext, state: RunState) -> Answer:
    answer = answer_at(ctx, state, "advance")
    return replace(answer, working=True, step=None, checkpoint_token=None, blockers=(), retryable=False)


def answer_again(ctx: CallContext, token: Token, state: RunState) -> Answer:
    """Return the answer to a call that was made before."""
    # Asked in this order: a report is removed from the inbox and recorded in one commit.
    on_its_way = bool(ctx.log.inbox(token.run, limit=1))
    stands_for_step = bool(token.seq) and is_pending_point(ctx, token.run, token.seq)
    reached = follow_outcome(ctx, token.run, token.seq) if token.seq else None
    if reached is None:
        if not stands_for_step and waits_for_holder(state):
            # A token from before the step was known completes nothing: it shows the step, with a token that can.
            return answer_at(ctx, state, "rehydrate")
        if not token.seq or on_its_way:
            ctx.wake(token.run)
            return _answer_working(ctx, state)
        if not stands_for_step or token.seq == (state.seq if state.pending is None else state.pending.seq):
            # The run waits for another party there, and says so again.
            answer = answer_at(ctx, state, "advance")
            if answer.working:
                ctx.wake(token.run)
            return answer
        what = f"the step of this token is no longer pending in {state.run}, and no call completed it"
        hint = "call resume_session with this runId, rehydrate with the token it returns, and continue from there"
        raise PullError("TOKEN_STALE", what, next_step=hint)
    if not reached.settled:
        ctx.wake(token.run)
    return answer_at(ctx, reached.state, "advance", reached.events)


def move_to_branch(ctx: CallContext, token: Token) -> Token:
    """Return the token on the branch that it begins, which is created if it does not exist yet."""
    if token.branch == NO_BRANCH:
        return token
    branch = branch_of(ctx, token)
    return Token(token.kind, branch.run, branch.seq, branch.holder)


def require_holder(ctx: CallContext, state: RunState, token: Token) -> None:
    """Refuse a token of somebody who no longer holds the run, or does not hold it yet."""
    if state.held_by == holder_name(token.holder):
        return
    if _is_handover_pending(ctx, token):
        ctx.wake(token.run)
        message = f"{state.run} is handed to you as soon as the current step is done"
        hint = "wait a few seconds, then repeat this call until it is answered"
        raise PullError("HELD_BY_ANOTHER", message, next_step=hint, again=True)
    who = actor_words(state.held_by) if state.held_by else "Handrail itself"
    hint = f"ask your user for: handrail take {state.run}, which prints a token; or leave the run to {who}"
    raise PullError("HELD_BY_ANOTHER", f"{state.run} is held by {who} now", next_step=hint)


def _is_handover_pending(ctx: CallContext, token: Token) -> bool:
    """Return whether the run was handed to the holder of this token, and the engine has not let go of it yet."""
    # Asked in this order: the message is removed from the inbox and recorded in one commit.
    waiting = (json.loads(each.payload) for each in ctx.log.inbox(token.run) if each.key.startswith("take:"))
    asked = any(each.get("by") == holder_name(token.holder) for each in waiting)
    return asked or ctx.known.fold_run(ctx.log, token.run).state.held_by == holder_name(token.holder)


def _complete_guided_step(ctx: CallContext, token: Token, handed: StepSubmission) -> Answer | None:
    """Complete a guided step and decide what follows, in one commit; None if it is no longer pending."""
    by = holder_name(token.holder)
    lease = acquire_lease(ctx.log, token.run, by)
    try:
        found = ctx.known.fold_run(ctx.log, token.run)
        state = found.state
        if state.pending is None or state.pending.seq != token.seq:
            return None
        require_holder(ctx, state, token)
        _require_somebody_to_ask(ctx, state)
        plan = plan_of(ctx.log, state.plan)
        resumed = (RunResumed(by=by, at=ctx.clock()),) if state.status == "blocked" else ()
        open_again = apply(state, resumed[0], state.seq + 1, ctx.log.get_blob) if resumed else state
        redactor, names = ctx.writer.redactor_for(token.run), ctx.agents.catalog.names
        recorder = Recorder(ctx.log, lease, ctx.clock, redactor, found.checkpointed, ctx.known, agent_names=names)
        events = complete_guided(plan, open_again, token.seq, _make_given(handed, by), ctx.clock()).events
        proves = isinstance(events[-1], StepEnded) and bool(find_current_step(plan, open_again)[0].done_when)
        if proves:
            events = (_make_work_report(state.pending, handed, by, ctx.clock()),)
        turn = recorder.turn(plan, state, (*resumed, *events))
        after = recorder.commit(turn)
        if not proves:
            reached = follow_to_standstill(ctx, state, turn.events)
            return answer_at(ctx, reached.state, "advance", reached.events)
    finally:
        ctx.log.release(lease)
    return answer_again(ctx, token, after)


def _make_work_report(pending: Pending, handed: StepSubmission, by: str, now: float) -> WorkReported:
    """Leave a step to the engine if it is done only when its proof holds."""
    return WorkReported(
        address=pending.address,
        began=pending.seq,
        text=handed.notes,
        artifacts=handed.artifacts,
        context=handed.context,
        by=by,
        at=now,
    )


def _make_given(handed: StepSubmission, by: str = "") -> Submission:
    return Submission(by=by, notes=handed.notes, artifacts=handed.artifacts, context=handed.context)


def _require_somebody_to_ask(ctx: CallContext, state: RunState) -> None:
    """Refuse to complete what a person must confirm, if the agent works inside a step: it has nobody to ask."""
    if ctx.caller.kind == "connected" or answer_at(ctx, state, "advance").intent != "await_user_confirmation":
        return
    message = f"a person must confirm this step, and {ctx.caller.words} has no person to ask"
    hint = (
        f"a person can let an agent of Handrail do the step, and is then asked to confirm: handrail release {state.run}"
    )
    raise PullError("USER_ONLY_DEPENDENCY", message, next_step=hint)


def _report(ctx: CallContext, token: Token, handed: StepSubmission) -> None:
    """Leave what an agent hands in to the engine, which checks itself whether it holds."""
    ctx.writer.send(
        token.run,
        f"report:{event_key(ctx.log, token.run, token.seq)}",
        "report",
        seq=token.seq,
        text=handed.notes,
        output=handed.result,
        has_output=handed.result is not None,
        artifacts=list(handed.artifacts),
        by=holder_name(token.holder),
    )
    ctx.wake(token.run)

"""Accepts what a connected agent hands in for its step, once: the same token always gets the same answer."""

import json
from dataclasses import field, replace

from handrail.engine.decide.complete_guided import Given, complete_guided
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
from handrail.operations.pull.decision_trace import make_non_tip_entry
from handrail.operations.pull.desk import Desk, PullRefused, holder_name
from handrail.operations.pull.history_points import follow_outcome, follow_to_standstill
from handrail.operations.pull.pending_step import find_due_step, is_repairable, waits_for_holder
from handrail.operations.pull.tries import Try, is_judged_anew, is_pending_point, is_repeated, tries_of
from handrail.operations.runs.lease import acquire_lease
from handrail.operations.runs.lifecycle import event_key
from handrail.runtime.history import plan_of, state_before
from handrail.runtime.recorder import Recorder


@frozen(kw_only=True)
class Handed:
    """What an agent hands in for its step."""

    notes: str = ""
    artifacts: tuple[JsonValue, ...] = ()
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    result: JsonValue = None
    """The result of a step that asks for a certain shape."""


def advance_pulled(desk: Desk, token: Token, handed: Handed) -> Answer:
    """Complete the step of a token; a token that was used before returns the answer it returned then."""
    here = move_to_branch(desk, token)
    desk.offer(here.run)
    state = desk.known.fold_run(desk.log, here.run).state
    require_holder(desk, state, here)
    call = _Call(here, handed, desk.record_first_call(here, state.seq))
    try:
        answer = _advance(desk, call, state)
    except BaseException:
        desk.asked.pop(here, None)
        raise
    if not answer.working:
        desk.asked.pop(here, None)
    if here.run == token.run:
        return answer
    return replace(answer, trace=(make_non_tip_entry(token.run, here.run), *answer.trace))


@frozen
class _Call:
    """A call that hands in a step."""

    token: Token
    handed: Handed
    since: int
    """The newest event when it arrived: it repairs a refusal up to there, and a later one is its answer."""


def _advance(desk: Desk, call: _Call, state: RunState) -> Answer:
    token = call.token
    of_step = bool(token.seq) and is_pending_point(desk, token.run, token.seq)
    address = _find_blocked_address(desk, token) if token.seq and not of_step else ""
    last: Try | None = None
    for tried in tries_of(desk, token.run, token.seq, address) if of_step or address else ():
        if tried.outcome is None:
            return _hand_in(desk, call, state, tried)
        if not tried.is_refused:
            return _repeat_completion(desk, call, state, tried)
        last = tried
        if tried.over > call.since or _is_answered(desk, tried, call.handed):
            return _repeat_refusal(desk, tried)
    if last is not None and last.outcome is not None:
        address = last.outcome.address
    due = find_due_step(desk, state)
    meant = last is not None or not of_step
    if meant and is_repairable(state) and state.seq <= call.since and address == ("" if due is None else due.address):
        return _look_again(desk, token, state)
    return answer_again(desk, token, state) if last is None else _repeat_refusal(desk, last)


def _find_blocked_address(desk: Desk, token: Token) -> str:
    """Return the address of the agent's step at which the run was blocked when a token was made; empty if none."""
    due = find_due_step(desk, state_before(desk.log, token.run, token.seq + 1))
    return "" if due is None else due.address


def _is_answered(desk: Desk, tried: Try, handed: Handed) -> bool:
    """Return whether a refused try is handed in again unchanged, so that it gets its answer again."""
    if not isinstance(tried.outcome, StepRefused) or is_judged_anew(desk, tried):
        return False
    if any(each.code == "not_proven" for each in tried.outcome.shortfalls):
        return False
    return is_repeated(desk, tried, _make_given(handed), handed.result)


def _repeat_refusal(desk: Desk, tried: Try) -> Answer:
    reached = follow_outcome(desk, tried.run, tried.began)
    if reached is None:
        raise LookupError(f"event {tried.began} of {tried.run} has no outcome")
    if not reached.settled:
        desk.wake(tried.run)
    return answer_at(desk, reached.state, "advance", reached.events)


def _repeat_completion(desk: Desk, call: _Call, state: RunState, tried: Try) -> Answer:
    """Return the answer that a completed step led to; a check that still fails is repeated."""
    reached = follow_outcome(desk, tried.run, tried.began, through=True)
    if reached is None or not reached.settled:
        desk.wake(tried.run)
        return _answer_working(desk, state if reached is None else reached.state)
    if (
        is_repairable(reached.state)
        and find_due_step(desk, state) is None
        and _is_still_blocked(reached.state, state, call.since)
    ):
        return _look_again(desk, call.token, state)
    answer = answer_at(desk, reached.state, "advance", reached.events)
    if is_repeated(desk, tried, _make_given(call.handed), call.handed.result):
        return answer
    return replace(answer, warnings=(*answer.warnings, _make_reuse_caution(desk, state)))


def _is_still_blocked(stood: RunState, state: RunState, since: int) -> bool:
    """Return whether a run is still blocked at the same place, and was when a call arrived."""
    return is_repairable(state) and state.seq <= since and state.blocked_at == stood.blocked_at


def _make_reuse_caution(desk: Desk, state: RunState) -> Caution:
    newest = answer_at(desk, state, "rehydrate").continue_token
    where = "the run has ended" if newest is None else f"the newest token is {newest}"
    message = f"this token was used before, with another output: what you sent now was ignored, and {where}"
    return Caution(code="TOKEN_ALREADY_USED", message=message, data={} if newest is None else {"newestToken": newest})


def _hand_in(desk: Desk, call: _Call, state: RunState, tried: Try) -> Answer:
    """Complete the pending step, or describe what it waits for."""
    token, pending, due = call.token, state.pending, find_due_step(desk, state)
    if pending is None or due is None or pending.seq != tried.began or due.seq != tried.began:
        return answer_again(desk, replace(token, seq=tried.began), state)
    if pending.action in GUIDED:
        done = _complete_guided_step(desk, replace(token, seq=tried.began), call.handed)
        # Another process may have been first: then its try counts, and this call comes after it.
        return done or _advance(desk, call, desk.known.fold_run(desk.log, token.run).state)
    _report(desk, replace(token, seq=tried.began), call.handed)
    return answer_again(desk, replace(token, seq=tried.began), state)


def _look_again(desk: Desk, token: Token, state: RunState) -> Answer:
    """Let the engine continue a run that its holder has repaired."""
    key = f"resume:{event_key(desk.log, token.run, state.seq)}"
    desk.writer.send(token.run, key, "resume", by=holder_name(token.holder))
    desk.wake(token.run)
    return _answer_working(desk, state)


def _answer_working(desk: Desk, state: RunState) -> Answer:
    answer = answer_at(desk, state, "advance")
    return replace(answer, working=True, step=None, checkpoint_token=None, blockers=(), retryable=False)


def answer_again(desk: Desk, token: Token, state: RunState) -> Answer:
    """Return the answer to a call that was made before."""
    # Asked in this order: a report is removed from the inbox and recorded in one commit.
    on_its_way = bool(desk.log.inbox(token.run, limit=1))
    stands_for_step = bool(token.seq) and is_pending_point(desk, token.run, token.seq)
    reached = follow_outcome(desk, token.run, token.seq) if token.seq else None
    if reached is None:
        if not stands_for_step and waits_for_holder(state):
            # A token from before the step was known completes nothing: it shows the step, with a token that can.
            return answer_at(desk, state, "rehydrate")
        if not token.seq or on_its_way:
            desk.wake(token.run)
            return _answer_working(desk, state)
        if not stands_for_step or token.seq == (state.seq if state.pending is None else state.pending.seq):
            # The run waits for another party there, and says so again.
            answer = answer_at(desk, state, "advance")
            if answer.working:
                desk.wake(token.run)
            return answer
        raise _make_stale_error(state)
    if not reached.settled:
        desk.wake(token.run)
    return answer_at(desk, reached.state, "advance", reached.events)


def move_to_branch(desk: Desk, token: Token) -> Token:
    """Return the token on the branch that it begins, which is created if it does not exist yet."""
    if token.branch == NO_BRANCH:
        return token
    branch = branch_of(desk, token)
    return Token(token.kind, branch.run, branch.seq, branch.holder)


def require_holder(desk: Desk, state: RunState, token: Token) -> None:
    """Refuse a token of somebody who no longer holds the run, or does not hold it yet."""
    if state.held_by == holder_name(token.holder):
        return
    if _is_handover_pending(desk, token):
        desk.wake(token.run)
        message = f"{state.run} is handed to you as soon as the current step is done"
        hint = "wait a few seconds, then repeat this call until it is answered"
        raise PullRefused("HELD_BY_ANOTHER", message, next_step=hint, again=True)
    who = actor_words(state.held_by) if state.held_by else "Handrail itself"
    hint = f"ask your user for: handrail take {state.run}, which prints a token; or leave the run to {who}"
    raise PullRefused("HELD_BY_ANOTHER", f"{state.run} is held by {who} now", next_step=hint)


def _is_handover_pending(desk: Desk, token: Token) -> bool:
    """Return whether the run was handed to the holder of this token, and the engine has not let go of it yet."""
    # Asked in this order: the message is removed from the inbox and recorded in one commit.
    waiting = (json.loads(each.payload) for each in desk.log.inbox(token.run) if each.key.startswith("take:"))
    asked = any(each.get("by") == holder_name(token.holder) for each in waiting)
    return asked or desk.known.fold_run(desk.log, token.run).state.held_by == holder_name(token.holder)


def _make_stale_error(state: RunState) -> PullRefused:
    what = f"the step of this token is no longer pending in {state.run}, and no call completed it"
    hint = "call resume_session with this runId, rehydrate with the token it returns, and continue from there"
    return PullRefused("TOKEN_STALE", what, next_step=hint)


def _complete_guided_step(desk: Desk, token: Token, handed: Handed) -> Answer | None:
    """Complete a guided step and decide what follows, in one commit; None if it is no longer pending."""
    by = holder_name(token.holder)
    lease = acquire_lease(desk.log, token.run, by)
    try:
        found = desk.known.fold_run(desk.log, token.run)
        state = found.state
        if state.pending is None or state.pending.seq != token.seq:
            return None
        require_holder(desk, state, token)
        _require_somebody_to_ask(desk, state)
        plan = plan_of(desk.log, state.plan)
        resumed = (RunResumed(by=by, at=desk.clock()),) if state.status == "blocked" else ()
        open_again = apply(state, resumed[0], state.seq + 1, desk.log.get_blob) if resumed else state
        redactor, names = desk.writer.redactor_for(token.run), desk.agents.catalog.names
        recorder = Recorder(desk.log, lease, desk.clock, redactor, found.checkpointed, desk.known, agent_names=names)
        events = complete_guided(plan, open_again, token.seq, _make_given(handed, by), desk.clock()).events
        proves = isinstance(events[-1], StepEnded) and bool(find_current_step(plan, open_again)[0].done_when)
        if proves:
            events = (_make_work_report(state.pending, handed, by, desk.clock()),)
        turn = recorder.turn(plan, state, (*resumed, *events))
        after = recorder.commit(turn)
        if not proves:
            reached = follow_to_standstill(desk, state, turn.events)
            return answer_at(desk, reached.state, "advance", reached.events)
    finally:
        desk.log.release(lease)
    return answer_again(desk, token, after)


def _make_work_report(pending: Pending, handed: Handed, by: str, now: float) -> WorkReported:
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


def _make_given(handed: Handed, by: str = "") -> Given:
    return Given(by=by, notes=handed.notes, artifacts=handed.artifacts, context=handed.context)


def _require_somebody_to_ask(desk: Desk, state: RunState) -> None:
    """Refuse to complete what a person must confirm, if the agent works inside a step: it has nobody to ask."""
    if desk.caller.kind == "connected" or answer_at(desk, state, "advance").intent != "await_user_confirmation":
        return
    message = f"a person must confirm this step, and {desk.caller.words} has no person to ask"
    hint = (
        f"a person can let an agent of Handrail do the step, and is then asked to confirm: handrail release {state.run}"
    )
    raise PullRefused("USER_ONLY_DEPENDENCY", message, next_step=hint)


def _report(desk: Desk, token: Token, handed: Handed) -> None:
    """Leave what an agent hands in to the engine, which checks itself whether it holds."""
    desk.writer.send(
        token.run,
        f"report:{event_key(desk.log, token.run, token.seq)}",
        "report",
        seq=token.seq,
        text=handed.notes,
        output=handed.result,
        has_output=handed.result is not None,
        artifacts=list(handed.artifacts),
        by=holder_name(token.holder),
    )
    desk.wake(token.run)

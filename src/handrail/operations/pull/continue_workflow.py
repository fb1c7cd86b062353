"""Takes what a connected agent gives back for its step, once: the same token always gets the same answer."""

import json
from dataclasses import field, replace

from handrail.engine.decide.complete_guided import Given, complete_guided
from handrail.engine.state.agent_calls import GUIDED
from handrail.frozen import frozen
from handrail.model.actors import actor_words
from handrail.model.history.run_state import RunState
from handrail.model.tokens import NO_BRANCH, Token
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answers import Answer, answer_at, waits_for_holder
from handrail.operations.pull.branches import branch_of
from handrail.operations.pull.decision_trace import non_tip
from handrail.operations.pull.desk import Desk, PullRefused, held_name
from handrail.operations.pull.history_points import first_stand, reached_from
from handrail.operations.runs.lease import acquire_lease
from handrail.operations.runs.lifecycle import point
from handrail.runtime.history import plan_of
from handrail.runtime.recorder import Recorder


@frozen(kw_only=True)
class Handed:
    """What an agent hands in for its step."""

    notes: str = ""
    artifacts: tuple[JsonValue, ...] = ()
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    result: JsonValue = None
    """Of a step that asks for a result of a certain shape."""


def advance_pulled(desk: Desk, token: Token, handed: Handed) -> Answer:
    """Complete the step that a token stands for; a token that was used before gives the answer it gave then."""
    here = on_branch(desk, token)
    desk.offer(here.run)
    answer = _advanced(desk, here, handed)
    if here.run == token.run:
        return answer
    return replace(answer, trace=(non_tip(token.run, here.run), *answer.trace))


def _advanced(desk: Desk, token: Token, handed: Handed) -> Answer:
    state = desk.known.folded(desk.log, token.run).state
    require_holder(desk, state, token)
    pending = state.pending
    if pending is None or pending.seq != token.seq or not waits_for_holder(state):
        return answer_again(desk, token, state)
    if pending.action in GUIDED:
        return _completed(desk, token, handed)
    _report(desk, token, handed)
    return answer_again(desk, token, state)


def answer_again(desk: Desk, token: Token, state: RunState) -> Answer:
    """Give the answer to a call that was made before."""
    # Asked in this order: a report is taken out of the inbox and recorded in one commit.
    on_its_way = bool(desk.log.inbox(token.run, limit=1))
    reached = reached_from(desk, token.run, token.seq) if token.seq else None
    if reached is None:
        if not token.seq and waits_for_holder(state):
            # A token from before the step was known completes nothing: it shows the step, with one that can.
            return answer_at(desk, state, "rehydrate")
        if not token.seq or on_its_way:
            desk.wake(token.run)
            return replace(answer_at(desk, state, "advance"), working=True, step=None, checkpoint_token=None)
        if token.seq == (state.seq if state.pending is None else state.pending.seq):
            # The run waits for somebody else there, and says so again.
            return answer_at(desk, state, "advance")
        raise _stale(state)
    if not reached.settled:
        desk.wake(token.run)
    return answer_at(desk, reached.state, "advance", reached.events)


def on_branch(desk: Desk, token: Token) -> Token:
    """Give the token on the branch that it begins, which is made where it does not exist yet."""
    if token.branch == NO_BRANCH:
        return token
    branch = branch_of(desk, token)
    return Token(token.kind, branch.run, branch.seq, branch.holder)


def require_holder(desk: Desk, state: RunState, token: Token) -> None:
    """Refuse a token of somebody who does not hold the run any more, or not yet."""
    if state.held_by == held_name(token.holder):
        return
    if _on_its_way(desk, token):
        desk.wake(token.run)
        message = f"{state.run} is handed to you as soon as the step that is under way is done"
        hint = "wait a few seconds, then make this very call again, until it is answered"
        raise PullRefused("HELD_BY_ANOTHER", message, next_step=hint, again=True)
    who = actor_words(state.held_by) if state.held_by else "Handrail itself"
    hint = f"ask your user for: handrail take {state.run}, which gives a token; or leave the run to {who}"
    raise PullRefused("HELD_BY_ANOTHER", f"{state.run} is held by {who} now", next_step=hint)


def _on_its_way(desk: Desk, token: Token) -> bool:
    """Tell whether somebody handed the run to the holder of this token, and the engine has yet to let go of it."""
    # Asked in this order: the message is taken out of the inbox and recorded in one commit.
    waiting = (json.loads(each.payload) for each in desk.log.inbox(token.run) if each.key.startswith("take:"))
    asked = any(each.get("by") == held_name(token.holder) for each in waiting)
    return asked or desk.known.folded(desk.log, token.run).state.held_by == held_name(token.holder)


def _stale(state: RunState) -> PullRefused:
    what = f"the step of this token is not pending in {state.run} any more, and no call completed it"
    hint = "call resume_session with this runId, rehydrate with the token it gives, and go on from there"
    return PullRefused("TOKEN_STALE", what, next_step=hint)


def _completed(desk: Desk, token: Token, handed: Handed) -> Answer:
    """Complete a guided step, and decide what follows, in one commit."""
    by = held_name(token.holder)
    lease = acquire_lease(desk.log, token.run, by)
    try:
        found = desk.known.folded(desk.log, token.run)
        state = found.state
        # Another process may have been first: then its answer is ours.
        if state.pending is None or state.pending.seq != token.seq:
            return answer_again(desk, token, state)
        require_holder(desk, state, token)
        _require_somebody_to_ask(desk, state)
        plan = plan_of(desk.log, state.plan)
        given = Given(by=by, notes=handed.notes, artifacts=handed.artifacts, context=handed.context)
        redactor, names = desk.writer.redactor_for(token.run), desk.agents.catalog.names
        recorder = Recorder(desk.log, lease, desk.clock, redactor, found.checkpointed, desk.known, agent_names=names)
        turn = recorder.turn(plan, state, complete_guided(plan, state, token.seq, given, desk.clock()).events)
        recorder.commit(turn)
        reached = first_stand(desk, state, turn.events)
        return answer_at(desk, reached.state, "advance", reached.events)
    finally:
        desk.log.release(lease)


def _require_somebody_to_ask(desk: Desk, state: RunState) -> None:
    """Refuse to complete what a person is to confirm, where the agent works inside a step: it talks to nobody."""
    if desk.caller.kind == "connected" or answer_at(desk, state, "advance").intent != "await_user_confirmation":
        return
    message = f"a person is to confirm this step, and {desk.caller.words} has nobody to ask"
    hint = f"leave it to a person: handrail release {state.run}, then handrail approve {state.run}"
    raise PullRefused("USER_ONLY_DEPENDENCY", message, next_step=hint)


def _report(desk: Desk, token: Token, handed: Handed) -> None:
    """Leave what an agent hands in for the engine, which looks itself whether it holds."""
    desk.writer.send(
        token.run,
        f"report:{point(desk.log, token.run, token.seq)}",
        "report",
        seq=token.seq,
        text=handed.notes,
        output=handed.result,
        has_output=handed.result is not None,
        by=held_name(token.holder),
    )
    desk.wake(token.run)

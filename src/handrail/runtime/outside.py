"""What comes from outside, as events: messages of a run's inbox, and timers that are due.

A message is JSON with a `kind`. One that no longer fits (an answer to a question that is gone) is consumed and has no
effect; who sent it learns that from the run's state.
"""

import json
from collections.abc import Callable
from typing import Any, cast

from handrail.engine.answers import Answer, decide_approval
from handrail.engine.apply import apply
from handrail.engine.transitions import ALLOWED
from handrail.errors import UsageError
from handrail.model import events as ev
from handrail.model.plan import Plan
from handrail.model.run import RunState
from handrail.ports.log import Log, Message

_Data = dict[str, Any]


def message(kind: str, **fields: object) -> bytes:
    """Write a message for a run's inbox."""
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False).encode()


def understood(
    log: Log, plan: Plan, state: RunState, messages: tuple[Message, ...], now: float
) -> tuple[list[ev.Event], RunState]:
    """Give the events that messages cause, one after the other, and the state after them."""
    caused: list[ev.Event] = []
    for each in messages:
        event = _event(plan, state, json.loads(each.payload), now)
        if event is not None and event.kind in ALLOWED[state.status]:
            state = apply(state, event, state.seq + 1, log.get_blob)
            caused.append(event)
    return caused, state


def _event(plan: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    make = _MEANINGS.get(data["kind"])
    return None if make is None else make(plan, state, data, now)


def _stop(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    del state
    by = data.get("by") or "a person"
    return ev.RunEnded(status="cancelled", by=by, message=f"stopped by {by}", at=now)


def _resume(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    if state.status in ("blocked", "failed") or state.reason == "pause":
        return ev.RunResumed(by=data.get("by", ""), at=now)
    return None


def _pause(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    del data
    return ev.RunWaits(reason="pause", message="paused", at=now) if state.status == "running" else None


def _rewind(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    del state
    crossed = tuple(data["crossed"])
    return ev.RunRewound(
        to=data["to"], seq=data["seq"], state=data["state"], crossed=crossed, by=data.get("by", ""), at=now
    )


def _take(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    return None if state.held_by else ev.RunTaken(by=data.get("by", ""), at=now)


def _release(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    return ev.RunReleased(by=data.get("by", ""), at=now) if state.held_by else None


def _answer(plan: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    if state.pending is None or state.pending.kind != "approval" or state.pending.seq != data["asked"]:
        return None
    answer = Answer(cast("ev.Decision", data["decision"]), str(data.get("by", "")), str(data.get("feedback", "")))
    try:
        return decide_approval(plan, state, answer, now)
    except UsageError:
        return None


def _child(_: Plan, state: RunState, data: _Data, now: float) -> ev.Event | None:
    pending = state.pending
    if pending is None or pending.kind != "child" or pending.child != data["child"]:
        return None
    good = data["status"] == "succeeded"
    return ev.StepEnded(
        address=pending.address,
        began=pending.seq,
        status="succeeded" if good else "failed",
        output=data.get("outputs"),
        error="" if good else f"run {data['child']} {data['status']}: {data.get('message', '')}",
        at=now,
    )


_MEANINGS: dict[str, Callable[[Plan, RunState, _Data, float], ev.Event | None]] = {
    "answer": _answer,
    "stop": _stop,
    "resume": _resume,
    "pause": _pause,
    "rewind": _rewind,
    "take": _take,
    "release": _release,
    "child_ended": _child,
}


def timed_out(state: RunState, key: str, now: float) -> ev.Event | None:
    """Give the event of a timer that came due, if the run still waits for it."""
    if key == "retry" and state.reason == "timer":
        return ev.TimerFired(key="retry", at=now)
    pending = state.pending
    if key == "approval" and pending is not None and pending.kind == "approval":
        return ev.RunBlocked(
            reason="step",
            message=f"nobody answered '{pending.address}' in time",
            address=pending.address,
            next_step=f"handrail resume {state.run}, then approve, revise or reject",
            at=now,
        )
    return None

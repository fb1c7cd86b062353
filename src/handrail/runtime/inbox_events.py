"""Turns what comes from outside into events: messages of a run's inbox, and timers that are due.

A message is JSON with a `kind`. One that no longer fits (an answer to a question that is gone), or that cannot be
read, is consumed and has no effect; its sender learns that from the run's state.
"""

import json
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from handrail.engine.decide import after_failure
from handrail.engine.decide.from_outside import Answer, decide_approval
from handrail.engine.fold.apply import apply
from handrail.engine.fold.step_tools import Call, decide_call, report_child_end
from handrail.engine.state.agent_calls import is_for_holder
from handrail.engine.state.preferences import PreferenceChange, decide_preferences
from handrail.engine.state.transitions import ALLOWED
from handrail.errors import HandrailError, UsageError
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.actors import actor_words, make_agent, type_actor
from handrail.model.codec import decode
from handrail.model.history import events as ev
from handrail.model.history.run_state import Pending, RunState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentPolicy
from handrail.ports.log import Log, Message
from handrail.runtime.event_records import can_read_back, decode_event
from handrail.runtime.handlers.children import find_ended_child, outcome_of
from handrail.runtime.history import plan_of, state_of
from handrail.runtime.run_summary import TIMEOUT
from handrail.runtime.run_writer import InboxEffects, RunMessage

if TYPE_CHECKING:
    from handrail.engine.state import admission
    from handrail.runtime import run_deadline
else:
    admission = late_import("handrail.engine.state.admission")
    run_deadline = late_import("handrail.runtime.run_deadline")

_Data: TypeAlias = dict[str, Any]
ENDS = frozenset({"run_ended", "run_rewound", "run_waits", "run_resumed"})
"""Events that end pending work without an outcome."""


@frozen
class _InboxContext:
    """The state in which a message arrives."""

    log: Log
    plan: Plan
    state: RunState
    now: float
    begins: list[ev.RunStarted] = field(default_factory=list[ev.RunStarted])
    letters: list[RunMessage] = field(default_factory=list[RunMessage])


def interpret_messages(
    log: Log, plan: Plan, state: RunState, messages: tuple[Message, ...], now: float
) -> InboxEffects:
    """Turn messages into events, one after the other; return them with the state after them."""
    caused: list[ev.Event] = []
    consumed: list[int] = []
    given_up: list[Pending] = []
    begins: list[ev.RunStarted] = []
    letters: list[RunMessage] = []
    for each in messages:
        data = _read(each.payload)
        if data.get("kind") == "take" and _is_engine_performing(log, state):
            continue
        consumed.append(each.id)
        for event in _interpret_message(_InboxContext(log, plan, state, now, begins, letters), data):
            if _is_giving_up(state, event) and state.pending is not None:
                given_up.append(state.pending)
            state = apply(state, event, state.seq + 1, log.get_blob)
            caused.append(event)
    return InboxEffects(tuple(caused), state, tuple(consumed), tuple(given_up), tuple(begins), tuple(letters))


def _is_engine_performing(log: Log, state: RunState) -> bool:
    """Whether the engine itself performs a step: it is finished before somebody else takes the run."""
    pending = state.pending
    if state.status != "running" or state.held_by or pending is None or pending.kind != "step":
        return False
    began = decode_event(log.read(state.run, after=state.steps[pending.address].began - 1, limit=1)[0])
    # A copy of a run that somebody held may be at a step that was begun for its holder.
    return not (isinstance(began, ev.StepBegan) and is_for_holder(began))


def _is_giving_up(state: RunState, event: ev.Event) -> bool:
    if event.kind not in ENDS or state.pending is None:
        return False
    if event.kind == "run_resumed":
        return state.pending.kind == "step" and state.reason not in ("fault", "capability", "login")
    return state.pending.kind == "step" or event.kind != "run_waits"


def _read(payload: bytes) -> _Data:
    try:
        data: object = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return cast("_Data", data) if isinstance(data, dict) else {}


def _interpret_message(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Turn a message into events; none when it does not fit, or when the events may not follow."""
    make = _MEANINGS.get(str(data.get("kind")))
    try:
        events = () if make is None else make(ctx, data)
        state = ctx.state
        for event in events:
            # An event that cannot be read back would make the run unreadable, so the message has no effect.
            if event.kind not in ALLOWED[state.status] or not can_read_back(event):
                return ()
            state = apply(state, event, state.seq + 1, ctx.log.get_blob)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, UsageError):
        return ()
    return events


def _sender_of(data: _Data) -> str:
    """Return who sent a message; one from an older Handrail has the bare name of a person."""
    return type_actor(str(data.get("by") or ""))


def _stop(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    by = _sender_of(data)
    why = str(data.get("why") or "").strip()
    message = f"stopped by {actor_words(by) if by else 'a person'}" + (f": {why}" if why else "")
    return (ev.RunEnded(status="cancelled", by=by, message=message, at=ctx.now),)


def _stop_with(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """End a run because its parent gave it up."""
    return (ev.RunEnded(status="cancelled", message=f"stopped with {data['around']}", at=ctx.now),)


def _stop_for(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """End a run because a newer run takes over its key."""
    message = f"stopped: {data['run']} took over its concurrency key '{data['key']}' (if_running: stop_old)"
    return (ev.RunEnded(status="cancelled", reason="replaced", message=message, at=ctx.now),)


def _resume(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    if ctx.state.status in ("blocked", "failed") or ctx.state.reason in ("pause", "timer", "quota"):
        return (ev.RunResumed(by=_sender_of(data), at=ctx.now),)
    return ()


def _pause(ctx: _InboxContext, _: _Data) -> tuple[ev.Event, ...]:
    if ctx.state.status in ("running", "queued") or ctx.state.reason in ("timer", "quota"):
        return (ev.RunWaits(reason="pause", message="paused", at=ctx.now),)
    return ()


def _rewind(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    rewound = ev.RunRewound(
        to=str(data["to"]),
        seq=int(data["seq"]),
        state=str(data["state"]),
        crossed=tuple(data["crossed"]),
        by=_sender_of(data),
        at=ctx.now,
    )
    return (rewound,)


def _take(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Hand a run over from the holder that it had when the message was sent."""
    if ctx.state.held_by != data.get("held_by", ""):
        return ()
    hands = cast("ev.Performer", data.get("hands", "all"))
    return (ev.RunTaken(by=_sender_of(data), hands=hands, at=ctx.now),)


def _release(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Return a run to the engine; an imported run goes on only where it gets a place to work in."""
    state = ctx.state
    return (ev.RunReleased(by=str(data.get("by", "")), at=ctx.now),) if state.held_by and not state.foreign else ()


def _release_import(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Let an imported run go on, in the place named by the person who released it."""
    if not ctx.state.foreign:
        return ()
    released = ev.RunReleased(
        by=_sender_of(data),
        at=ctx.now,
        source=decode(cast("type[TreeSource | None]", TreeSource | None), data["source"]),
        tree=decode(cast("type[Tree | None]", Tree | None), data["tree"]),
        workspace=str(data["workspace"]),
        pass_env=tuple(map(str, data["pass_env"])),
        agents=decode(AgentPolicy, data["agents"]),
        # An older version sent none.
        admission=decode(cast("type[ev.Admission | None]", ev.Admission | None), data.get("admission")),
    )
    return (released,)


def _answer(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Answer an approval; one that has expired is asked again first, so that a late answer counts."""
    state = ctx.state
    if state.pending is None or state.pending.kind != "approval" or state.pending.seq != data["asked"]:
        return ()
    answer = Answer(cast("ev.Decision", data["decision"]), _sender_of(data), str(data.get("feedback", "")))
    decided = decide_approval(ctx.plan, state, answer, ctx.now)
    return (ev.RunResumed(by=answer.by, at=ctx.now), decided) if state.status == "blocked" else (decided,)


def _end_child(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record that a child is over; a run that is not running checks it when it goes on."""
    pending = ctx.state.pending
    if data["child"] in ctx.state.children:
        over = report_child_end(ctx.state, state_of(ctx.log, str(data["child"])), ctx.now)
        return () if over is None else (over,)
    if ctx.state.status != "running" or pending is None or pending.child != data["child"]:
        return ()
    try:
        child = find_ended_child(ctx.log, pending)
        ended = () if child is None else (outcome_of(ctx.log, pending, child, ctx.now),)
    except HandrailError:
        # The driver meets the same error when it reads the child's history, and reports it.
        return ()
    return () if child is None else (*ended, *_adopt_child_settings(ctx, child))


def _adopt_child_settings(ctx: _InboxContext, child: RunState) -> tuple[ev.Event, ...]:
    """Take over what a called workflow found in git's settings: it works in the worktree of its caller."""
    if child.tree is None or child.git_changes == ctx.state.git_changes:
        return ()
    address = "" if ctx.state.pending is None else ctx.state.pending.address
    return (ev.GitSettingsChanged(changes=child.git_changes, address=address, at=ctx.now),)


def _fire_timer(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Fire a timer that is due by a clock that nobody set back; any other timer set meanwhile has not come due."""
    if data["key"] == TIMEOUT:
        is_meant = ctx.state.deadline == data["due"]
        return run_deadline.end_late(ctx.log, ctx.state, ctx.now) if is_meant else ()
    if ctx.state.until != data["due"]:
        return ()
    event = timer_event(ctx.plan, ctx.state, str(data["key"]), ctx.now)
    return () if event is None else (event,)


def _say(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Answer an agent's question with a text."""
    pending = ctx.state.pending
    if pending is None or pending.kind != "question" or pending.seq != data["asked"]:
        return ()
    return (
        ev.QuestionAnswered(
            address=pending.address,
            asked=pending.seq,
            answer=str(data["answer"]),
            by=_sender_of(data),
            at=ctx.now,
        ),
    )


def _tell(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record what a person says to the agents, whether one is at work or not."""
    pending = ctx.state.pending
    at_work = pending is not None and pending.kind == "step" and pending.action == "agent"
    address = pending.address if pending is not None and at_work else ""
    return (ev.MessageGiven(text=str(data["text"]), by=_sender_of(data), address=address, at=ctx.now),)


def _report(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record the work that a connected agent submits for its step."""
    state, pending = ctx.state, ctx.state.pending
    if pending is None or pending.seq != data["seq"] or pending.reported or state.held_by != data["by"]:
        return ()
    reported = ev.WorkReported(
        address=pending.address,
        began=pending.seq,
        text=str(data["text"]),
        output=data["output"],
        has_output=bool(data["has_output"]),
        artifacts=tuple(data.get("artifacts") or ()),
        by=state.held_by,
        at=ctx.now,
    )
    return (reported,)


def _call_tool(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record a tool call of one of our agents."""
    call = decode(Call, data["call"])
    found = decide_call(ctx.plan, ctx.state, call, ctx.now)
    if found.begins is not None:
        if not can_read_back(found.begins):
            return ()
        try:
            ctx.begins.append(_add_admission(ctx, found.begins))
        except UsageError as error:
            return (decide_call(ctx.plan, ctx.state, replace(call, error=error.message), ctx.now).event,)
    if found.event.success and data.get("letter"):
        text = f"(from the agent of {ctx.state.run}, which started this run) {data['letter']['text']}"
        key, by = f"tell:{ctx.state.run}:{call.call}", str(make_agent(ctx.state.run, call.address))
        ctx.letters.append(RunMessage(str(data["letter"]["run"]), key, text, by))
    return (found.event,)


def _add_admission(ctx: _InboxContext, begins: ev.RunStarted) -> ev.RunStarted:
    """Let a run that an agent starts wait for its turn, like any other."""
    plan, around = plan_of(ctx.log, begins.plan), ctx.state.admission
    return begins if around is None and plan.concurrency is None else admission.add_admission(plan, begins, around)


def _prefer(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record how far a person lets the run go on alone."""
    change = PreferenceChange(by=_sender_of(data), autonomy=str(data["autonomy"]), risk=str(data["risk"]))
    return decide_preferences(ctx.plan, ctx.state, change, ctx.now)


def _refuse_command(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record that an agent called a command that is for people."""
    refused = ev.CommandRefused(
        command=str(data["command"]),
        about=str(data["about"]),
        address=str(data["address"]),
        by=_sender_of(data),
        at=ctx.now,
    )
    return (refused,)


def _record_notice(ctx: _InboxContext, data: _Data) -> tuple[ev.Event, ...]:
    """Record that somebody is notified of what the run needs, or could not be."""
    told = ev.PersonNotified(need=int(data["need"]), to=str(data["to"]), problem=str(data["problem"]), at=ctx.now)
    return (told,)


_MEANINGS: dict[str, Callable[[_InboxContext, _Data], tuple[ev.Event, ...]]] = {
    "answer": _answer,
    "say": _say,
    "report": _report,
    "prefer": _prefer,
    "tool": _call_tool,
    "tell": _tell,
    "tried": _refuse_command,
    "notified": _record_notice,
    "stop": _stop,
    "stop_with": _stop_with,
    "stop_for": _stop_for,
    "resume": _resume,
    "pause": _pause,
    "rewind": _rewind,
    "take": _take,
    "release": _release,
    "release_import": _release_import,
    "child_ended": _end_child,
    "time_came": _fire_timer,
}


def timer_event(plan: Plan, state: RunState, key: str, now: float) -> ev.Event | None:
    """Build the event of a timer that came due, if the run still waits for it."""
    if state.status != "waiting":
        return None
    if key == "retry" and state.reason in ("timer", "quota"):
        return ev.TimerFired(key="retry", at=now)
    pending = state.pending
    if key == "approval" and pending is not None and pending.kind == "approval":
        return after_failure.decide_after_approval_timeout(plan, state, pending, now)
    return None

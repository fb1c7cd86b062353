"""Takes what an outside performer gives back for a guided step: it completes the step, or it is refused as data.

1. Everything that falls short is told at once; no demand hides another.
2. What is refused changes nothing but what is kept in any case: the context, what was observed of the agent's
   capabilities, results of work handed on. Nobody has to send that twice.
3. A step is completed only if the run can go on from it: what the next loop lacks is asked for here.
4. What is refused too often blocks the run, as a recorded fact.
5. What a person prefers to be passed over refuses nothing: it is recorded as a gap, before the step's end.
"""

from dataclasses import replace

from handrail.engine.contracts.assessments import Assessed, follow_ups
from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.guided.capabilities import lacking, missed, observed
from handrail.engine.guided.confirmation import Confirmed, confirmed, denied, needs_person, unasked
from handrail.engine.guided.context_limits import context_problem
from handrail.engine.guided.delegations import RESULT, HandedOn, handed_on, undone, unreported
from handrail.engine.guided.demands import Call, Given, judged, unmet_demands
from handrail.engine.guided.loop_signals import loop_control
from handrail.engine.guided.loops import lacking as lacking_in_loop
from handrail.engine.guided.loops import visible
from handrail.engine.guided.notes import kept_notes
from handrail.engine.guided.preferences import divided, gap_of, never_stops
from handrail.engine.state.position import current
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.history.events import (
    ContextMerged,
    DelegationReported,
    Event,
    GapRecorded,
    RunBlocked,
    Shortfall,
    StepEnded,
    StepRefused,
)
from handrail.model.history.run_state import RunState
from handrail.model.workflow.guidance import DelegateAction, GuidedAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue, Prompt

__all__ = ["MOST_REFUSALS", "Completion", "Given", "complete_guided", "kept_notes", "loop_control"]

MOST_REFUSALS = 10
"""Tries of a step that may be refused, one after the other, before a person is asked."""


@frozen
class Completion:
    """The events that follow from what was given, and what it lacks where it was refused."""

    events: tuple[Event, ...]
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether what was given was not taken."""
        return bool(self.shortfalls)


@frozen
class _Read:
    """What was understood of a call."""

    handed: HandedOn
    judged: Assessed
    confirmed: Confirmed


def complete_guided(plan: Plan, state: RunState, seq: int, given: Given, now: float) -> Completion:
    """Give the events by which an outside performer completes, or fails to complete, the pending step."""
    call = _call(plan, state, seq, given, now)
    asked = confirmed(call.action.confirmation, state, visible(plan, state), given.artifacts)
    problem = context_problem(state.context, given.context)
    fix = "leave out what the workflow does not read, or keep it in a file and name the file"
    short = (Shortfall("bad_context", problem, "context", fix),) if problem else ()
    if short and not never_stops(state):
        return _refused((), call, short, {})
    kept: list[Event] = []
    if given.context and not problem:
        kept.append(ContextMerged(changes=dict(given.context), by=given.by, at=now))
    kept += observed(state, given.artifacts, given.by, now)
    for event in kept:
        call = replace(call, state=apply(call.state, event, call.state.seq + 1, _no_blobs))
    handed = handed_on(call.state, call.pending.address, given.artifacts)
    return _after(tuple(kept), call, _Read(handed, judged(call), asked), short)


def _call(plan: Plan, state: RunState, seq: int, given: Given, now: float) -> Call:
    pending = state.pending
    if pending is None or pending.seq != seq:
        raise UsageError(f"event {seq} of {state.run} is not what is pending", next_step=f"handrail status {state.run}")
    action = current(plan, state)[0].action
    if isinstance(action, DelegateAction):
        action = _synthesis(action)
    if not isinstance(action, GuidedAction):
        raise UsageError(f"step '{pending.address}' is not a guided one", next_step=f"handrail status {state.run}")
    return Call(plan, state, pending, action, given, now)


def _synthesis(action: DelegateAction) -> GuidedAction:
    """What a step that hands work on asks of its performer in the end."""
    return GuidedAction(
        title=action.title,
        prompt=action.synthesis or Prompt("", "workrail"),
        contract=action.synthesis_contract,
        notes_optional=action.notes_optional,
        confirmation=action.confirmation,
    )


def _no_blobs(digest: str) -> bytes:
    raise KeyError(digest)


def _after(kept: tuple[Event, ...], call: Call, read: _Read, short: tuple[Shortfall, ...]) -> Completion:
    demands = unmet_demands(call, read.judged)
    if _only_reports(call, read.handed, asks_more=bool(demands)):
        gaps = tuple(gap_of(each, call.pending.address, call.now) for each in (*short, *read.handed.shortfalls))
        return Completion((*kept, *gaps, _reported(call, read.handed)))
    found = (
        *short,
        *lacking(call.plan, call.state, call.action, call.given.artifacts),
        *read.handed.shortfalls,
        *unreported(read.handed),
        *demands,
        *denied(call.state, read.confirmed),
    )
    refusing, passed = divided(call.state, found)
    if not refusing:
        refusing, more = divided(call.state, follow_ups(call.action.consequences, read.judged.judgments))
        passed = (*passed, *more)
    ended = _ended(call, read)
    if not refusing:
        refusing = _lacking_next(call, ended)
    if refusing:
        return _refused(kept, call, refusing, dict(read.handed.fresh))
    return Completion((*kept, *_gaps(call, read, passed), ended))


def _only_reports(call: Call, handed: HandedOn, *, asks_more: bool) -> bool:
    """Whether a call brings results of work handed on, and is not meant to complete the step yet.

    An agent that the engine calls gives everything at once: it is not waited for in between.
    """
    if not handed.fresh or not call.state.held_by or (handed.shortfalls and not never_stops(call.state)):
        return False
    others = [each for each in call.given.artifacts if not isinstance(each, dict) or each.get("kind") != RESULT]
    return bool(handed.open) or (asks_more and not call.given.notes.strip() and not others)


def _reported(call: Call, handed: HandedOn) -> DelegationReported:
    address, began = call.pending.address, call.pending.seq
    return DelegationReported(address=address, began=began, results=dict(handed.fresh), by=call.given.by, at=call.now)


def _gaps(call: Call, read: _Read, passed: tuple[Shortfall, ...]) -> tuple[GapRecorded, ...]:
    address, now = call.pending.address, call.now
    return (
        *(gap_of(each, address, now) for each in passed),
        *missed(call.plan, call.state, call.action, address, now),
        *undone(read.handed, address, now),
        *unasked(read.confirmed, address, now),
    )


def _lacking_next(call: Call, ended: StepEnded) -> tuple[Shortfall, ...]:
    """Look ahead: if a loop that follows could not be decided, what it lacks is asked for now."""
    sure = replace(ended, details={name: value for name, value in ended.details.items() if name != "confirm"})
    after = apply(call.state, sure, call.state.seq + 1, _no_blobs)
    then = advance(call.plan, after, call.now, _no_blobs).state
    found = lacking_in_loop(call.plan, then) if then.status == "blocked" else None
    if found is None:
        return ()
    fix = f"send '{found.variable}' in the context, together with the same notes and artifacts"
    sent = then.context.get(found.variable)
    form = {"schema": found.schema, "example": found.example}
    return (Shortfall("missing_context", then.message, found.variable, fix, sent=sent, **form),)


def _ended(call: Call, read: _Read) -> StepEnded:
    output = _output(call.given)
    levels: dict[str, JsonValue] = {}
    for each in read.judged.judgments:
        of_one = levels.setdefault(each.assessment, {})
        if isinstance(of_one, dict):
            of_one[each.dimension] = each.record()
    if levels:
        output["assessments"] = levels
    if read.handed.asked:
        output["delegations"] = read.handed.results
    if read.confirmed.asked:
        output["confirmation"] = read.confirmed.record(call.given.by)
    control = loop_control(call.given.artifacts)
    details: dict[str, JsonValue] = {"loop_control": control} if control else {}
    if needs_person(call.state, read.confirmed):
        details["confirm"] = read.confirmed.asked
    return StepEnded(
        address=call.pending.address,
        began=call.pending.seq,
        status="succeeded",
        output=output,
        stdout=kept_notes(call.given.notes),
        by=call.given.by,
        details=details,
        at=call.now,
    )


def _refused(
    kept: tuple[Event, ...], call: Call, shortfalls: tuple[Shortfall, ...], results: dict[str, JsonValue]
) -> Completion:
    refusal = StepRefused(
        address=call.pending.address,
        began=call.pending.seq,
        shortfalls=shortfalls,
        output=_output(call.given),
        by=call.given.by,
        results=results,
        at=call.now,
    )
    return Completion((*kept, refusal, *_blocked(call, shortfalls)), shortfalls)


def _blocked(call: Call, shortfalls: tuple[Shortfall, ...]) -> tuple[RunBlocked, ...]:
    lacks = [each.about for each in shortfalls if each.code == "capability_unavailable"]
    if lacks:
        return (_without(call, ", ".join(lacks)),)
    return (_given_up(call, shortfalls),) if call.pending.attempt >= MOST_REFUSALS else ()


def _without(call: Call, lacks: str) -> RunBlocked:
    """What the workflow cannot do without is not there: no further try of the agent brings it."""
    run = call.state.run
    return RunBlocked(
        reason="capability",
        message=f"the workflow requires {lacks}, which the agent cannot use",
        address=call.pending.address,
        next_step=f"{_way_to_have(call, lacks)}; or let it go on without:"
        f" handrail prefer {run} --risk aggressive, then handrail resume {run}",
        at=call.now,
    )


def _way_to_have(call: Call, lacks: str) -> str:
    if call.state.held_by:
        return f"once the agent can use {lacks}, it hands in the step again with an artifact that says so"
    return f"give the agent {lacks}, then handrail resume {call.state.run}"


def _given_up(call: Call, shortfalls: tuple[Shortfall, ...]) -> RunBlocked:
    """Who is refused again and again does not get it right alone: a person looks at it."""
    run, address = call.state.run, call.pending.address
    return RunBlocked(
        reason="step",
        message=f"step '{address}' was refused {call.pending.attempt} times, at last because {shortfalls[0].message}",
        address=address,
        next_step=f"see what it gave: handrail show {run} {address}; handrail resume {run} lets the step start over",
        at=call.now,
    )


def _output(given: Given) -> dict[str, JsonValue]:
    return {"notes": kept_notes(given.notes), "artifacts": list(given.artifacts)}

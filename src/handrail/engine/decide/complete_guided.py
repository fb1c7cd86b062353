"""Completes a guided step with what an outside performer returned, or refuses it and says what is missing.

1. Every shortfall is reported at once; no requirement hides another.
2. A refusal changes nothing except what is always stored: the context, observed capabilities of the agent, and results
   of delegated work. Nobody has to send these twice.
3. A step is completed only if the run can continue from it: what the next loop lacks is asked for here.
4. Too many refusals block the run, as a recorded fact.
5. Shortfalls that a person prefers to skip do not refuse anything: they are recorded as gaps, before the step's end.
"""

from dataclasses import replace

from handrail.engine.contracts.assessments import AssessmentResult, follow_ups, levels_of
from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.guided.confirmation import (
    ConfirmationState,
    confirmation_gaps,
    confirmation_shortfalls,
    needs_person,
    read_confirmation,
)
from handrail.engine.guided.context_limits import context_problem
from handrail.engine.guided.delegations import (
    RESULT,
    DelegatedWork,
    find_unreported,
    gaps_of_undone_work,
    read_delegations,
)
from handrail.engine.guided.demands import Call, Submission, read_judgments, unmet_demands
from handrail.engine.guided.loop_signals import loop_control
from handrail.engine.guided.loops import find_lacking as lacking_in_loop
from handrail.engine.guided.loops import visible_context
from handrail.engine.guided.notes import truncate_notes
from handrail.engine.state.capabilities import (
    block_without_capability,
    find_capability_gaps,
    find_missing_capabilities,
    read_observations,
)
from handrail.engine.state.position import find_current_step
from handrail.engine.state.preferences import gap_of, never_stops, split_shortfalls
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
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.guidance import DelegateAction, GuidedAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue, Prompt

__all__ = ["MAX_REFUSALS", "Completion", "Submission", "complete_guided", "loop_control", "truncate_notes"]

MAX_REFUSALS = 10
"""Refusals of a step, one after the other, before a person is asked."""


@frozen
class Completion:
    """The events that follow from a submission, and its shortfalls where it was refused."""

    events: tuple[Event, ...]
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether the submission was refused."""
        return bool(self.shortfalls)


@frozen
class _Submission:
    """The parts of a submission after reading and validating them."""

    handed: DelegatedWork
    judged: AssessmentResult
    confirmed: ConfirmationState


def complete_guided(plan: Plan, state: RunState, seq: int, given: Submission, now: float) -> Completion:
    """Decide the events by which an outside performer completes, or fails to complete, the pending step."""
    call = _call(plan, state, seq, given, now)
    asked = read_confirmation(call.action.confirmation, state, visible_context(plan, state), given.artifacts)
    problem = context_problem(state.context, given.context)
    fix = "leave out what the workflow does not read, or keep it in a file and name the file"
    short = (Shortfall("bad_context", problem, "context", fix),) if problem else ()
    if short and not never_stops(state):
        return _refuse((), call, short, {})
    kept: list[Event] = []
    if given.context and not problem:
        kept.append(ContextMerged(changes=dict(given.context), by=given.by, at=now))
    kept += read_observations(state, given.artifacts, given.by, now)
    for event in kept:
        call = replace(call, state=apply(call.state, event, call.state.seq + 1, _no_blobs))
    handed = read_delegations(call.state, call.pending.address, given.artifacts)
    return _complete_or_refuse(tuple(kept), call, _Submission(handed, read_judgments(call), asked), short)


def _call(plan: Plan, state: RunState, seq: int, given: Submission, now: float) -> Call:
    pending = state.pending
    if pending is None or pending.seq != seq:
        raise UsageError(f"event {seq} of {state.run} is not the pending one", next_step=f"handrail status {state.run}")
    action = find_current_step(plan, state)[0].action
    if isinstance(action, DelegateAction):
        action = _synthesis(action)
    if not isinstance(action, GuidedAction):
        raise UsageError(f"step '{pending.address}' is not a guided step", next_step=f"handrail status {state.run}")
    return Call(plan, state, pending, action, given, now)


def _synthesis(action: DelegateAction) -> GuidedAction:
    """Describe the synthesis that a delegating step asks of its performer in the end, as a guided step."""
    return GuidedAction(
        title=action.title,
        prompt=action.synthesis or Prompt("", "workrail"),
        contract=action.synthesis_contract,
        notes_optional=action.notes_optional,
        confirmation=action.confirmation,
    )


def _no_blobs(digest: str) -> bytes:
    raise KeyError(digest)


def _complete_or_refuse(
    kept: tuple[Event, ...], call: Call, read: _Submission, short: tuple[Shortfall, ...]
) -> Completion:
    demands = unmet_demands(call, read.judged)
    if _only_reports(call, read.handed, asks_more=bool(demands)):
        gaps = tuple(gap_of(each, call.pending.address, call.now) for each in (*short, *read.handed.shortfalls))
        return Completion((*kept, *gaps, _report_delegations(call, read.handed)))
    found = (
        *short,
        *find_missing_capabilities(call.plan, call.state, call.action, call.given.artifacts),
        *read.handed.shortfalls,
        *find_unreported(read.handed),
        *demands,
        *confirmation_shortfalls(call.state, read.confirmed),
    )
    refusing, passed = split_shortfalls(call.state, found)
    if not refusing:
        refusing, more = split_shortfalls(call.state, follow_ups(call.action.consequences, read.judged.judgments))
        passed = (*passed, *more)
    ended = _end_step(call, read)
    if not refusing:
        refusing = _find_lacking_for_next_loop(call, ended)
    if refusing:
        return _refuse(kept, call, refusing, dict(read.handed.fresh))
    return Completion((*kept, *_gaps(call, read, passed), ended))


def _only_reports(call: Call, handed: DelegatedWork, *, asks_more: bool) -> bool:
    """Whether a call only reports results of delegated work and is not meant to complete the step yet.

    An agent that the engine calls returns everything at once: it is not waited for in between.
    """
    if not handed.fresh or not call.state.held_by or (handed.shortfalls and not never_stops(call.state)):
        return False
    others = [each for each in call.given.artifacts if not isinstance(each, dict) or each.get("kind") != RESULT]
    return bool(handed.open) or (asks_more and not call.given.notes.strip() and not others)


def _report_delegations(call: Call, handed: DelegatedWork) -> DelegationReported:
    address, began = call.pending.address, call.pending.seq
    return DelegationReported(address=address, began=began, results=dict(handed.fresh), by=call.given.by, at=call.now)


def _gaps(call: Call, read: _Submission, passed: tuple[Shortfall, ...]) -> tuple[GapRecorded, ...]:
    address, now = call.pending.address, call.now
    return (
        *(gap_of(each, address, now) for each in passed),
        *find_capability_gaps(call.plan, call.state, call.action, address, now),
        *gaps_of_undone_work(read.handed, address, now),
        *confirmation_gaps(read.confirmed, address, now),
    )


def _find_lacking_for_next_loop(call: Call, ended: StepEnded) -> tuple[Shortfall, ...]:
    """Look ahead: if a loop that follows could not be decided, ask now for what it lacks."""
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


def _end_step(call: Call, read: _Submission) -> StepEnded:
    output = _output(call.given)
    levels = levels_of(read.judged.judgments)
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
        stdout=truncate_notes(call.given.notes),
        by=call.given.by,
        details=details,
        at=call.now,
    )


def _refuse(
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
    return Completion((*kept, refusal, *_decide_block(call, shortfalls)), shortfalls)


def refuse_unproven(
    state: RunState, pending: Pending, ended: StepEnded, shortfall: Shortfall
) -> tuple[StepRefused | RunBlocked, ...]:
    """Refuse a step that is complete except for its proof."""
    output = ended.output if isinstance(ended.output, dict) else {}
    refusal = StepRefused(
        address=pending.address,
        began=pending.seq,
        shortfalls=(shortfall,),
        output={name: output.get(name) for name in ("notes", "artifacts")},
        by=ended.by,
        details={**ended.details, "again": pending.attempt < MAX_REFUSALS},
        at=ended.at,
    )
    too_often = pending.attempt >= MAX_REFUSALS
    return (refusal, _block_after_refusals(state, pending, shortfall.message, ended.at)) if too_often else (refusal,)


def _decide_block(call: Call, shortfalls: tuple[Shortfall, ...]) -> tuple[RunBlocked, ...]:
    lacks = ", ".join(each.about for each in shortfalls if each.code == "capability_unavailable")
    if lacks:
        message = f"the workflow requires {lacks}, which the agent cannot use"
        return (block_without_capability(call.state, lacks, call.pending.address, message, call.now),)
    too_often = call.pending.attempt >= MAX_REFUSALS
    return (_block_after_refusals(call.state, call.pending, shortfalls[0].message, call.now),) if too_often else ()


def _block_after_refusals(state: RunState, pending: Pending, why: str, now: float) -> RunBlocked:
    """Block the run for a person, since a performer that is refused repeatedly will not succeed alone."""
    run, address = state.run, pending.address
    return RunBlocked(
        reason="step",
        message=f"step '{address}' was refused {pending.attempt} times, most recently because {why}",
        address=address,
        next_step=f"see what was submitted: handrail show {run} {address}; then start over: handrail resume {run}",
        at=now,
    )


def _output(given: Submission) -> dict[str, JsonValue]:
    return {"notes": truncate_notes(given.notes), "artifacts": list(given.artifacts)}

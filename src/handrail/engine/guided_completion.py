"""Takes what an outside performer gives back for a guided step: it completes the step, or it is refused as data.

1. Everything that falls short is told at once; no demand hides another.
2. What is refused changes nothing but the context, which is kept: nobody has to send it twice.
3. A step is completed only if the run can go on from it: what the next loop lacks is asked for here.
4. What is refused too often blocks the run, as a recorded fact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from handrail.engine.advance import advance
from handrail.engine.apply import apply
from handrail.engine.artifacts import fits, issues
from handrail.engine.assessing import Assessed, assessed, follow_ups
from handrail.engine.context_limits import context_problem
from handrail.engine.criteria import requirements, unmet
from handrail.engine.guided_loops import lacking, visible
from handrail.engine.guided_prompts import LOOP_CONTROL
from handrail.engine.minimal_artifacts import minimal
from handrail.engine.walk import current
from handrail.errors import UsageError
from handrail.model.events import ContextMerged, Event, RunBlocked, Shortfall, ShortfallCode, StepEnded, StepRefused
from handrail.model.guidance import Contract, DelegateAction, GuidedAction
from handrail.model.plan import Plan
from handrail.model.run import Pending, RunState
from handrail.model.values import JsonValue, Prompt

MOST_NOTES = 4096
MOST_REFUSALS = 10
"""Tries of a step that may be refused, one after the other, before a person is asked."""
CUT = "\n\n[TRUNCATED]"
_CONTROL_KEYS = frozenset({"kind", "decision", "loopId", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a performer gives back."""

    by: str
    notes: str = ""
    artifacts: tuple[JsonValue, ...] = ()
    context: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Completion:
    """The events that follow from what was given, and what it lacks where it was refused."""

    events: tuple[Event, ...]
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the step is still pending."""
        return bool(self.shortfalls)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a performer, with the state after the context it sent."""

    plan: Plan
    state: RunState
    pending: Pending
    action: GuidedAction
    given: Given
    now: float


def complete_guided(plan: Plan, state: RunState, seq: int, given: Given, now: float) -> Completion:
    """Give the events by which an outside performer completes, or fails to complete, the pending step."""
    pending = state.pending
    if pending is None or pending.seq != seq:
        raise UsageError(f"event {seq} of {state.run} is not what is pending", next_step=f"handrail status {state.run}")
    step, _ = current(plan, state)
    action = step.action
    if isinstance(action, DelegateAction):
        action = _synthesis(action)
    if not isinstance(action, GuidedAction):
        raise UsageError(f"step '{pending.address}' is not a guided one", next_step=f"handrail status {state.run}")
    call = _Call(plan, state, pending, action, given, now)
    problem = context_problem(state.context, given.context)
    if problem:
        fix = "leave out what the workflow does not read, or keep it in a file and name the file"
        return _refused((), call, (Shortfall("bad_context", problem, "context", fix),))
    merged: tuple[Event, ...] = ()
    if given.context:
        merged = (ContextMerged(changes=dict(given.context), by=given.by, at=now),)
        call = replace(call, state=apply(state, merged[0], state.seq + 1, _no_blobs))
    return _after(merged, call)


def _after(merged: tuple[Event, ...], call: _Call) -> Completion:
    judged = _judged(call)
    shortfalls = _shortfalls(call, judged)
    ended = _ended(call, judged)
    if not shortfalls:
        shortfalls = _lacking_next(call, ended)
    if shortfalls:
        return _refused(merged, call, shortfalls)
    return Completion((*merged, ended))


def _synthesis(action: DelegateAction) -> GuidedAction:
    """What a step that hands work on asks of its performer in the end."""
    return GuidedAction(
        title=action.title,
        prompt=action.synthesis or Prompt("", "workrail"),
        contract=action.synthesis_contract,
        notes_optional=action.notes_optional,
    )


def _no_blobs(digest: str) -> bytes:
    raise KeyError(digest)


def _judged(call: _Call) -> Assessed:
    known = {each.id: each for each in call.plan.assessments}
    wanted = [known[name] for name in call.action.assessments if name in known]
    return assessed(wanted, call.given.artifacts)


def _shortfalls(call: _Call, judged: Assessed) -> tuple[Shortfall, ...]:
    found = [*_contract(call), *judged.shortfalls, *_criteria(call), *_notes(call)]
    return tuple(found) or follow_ups(call.action.consequences, judged.judgments)


def _contract(call: _Call) -> list[Shortfall]:
    """An artifact of the contract's kind must be there; of several the newest that fits counts."""
    wanted = call.action.contract
    if wanted is None:
        return []
    given = [
        each for each in call.given.artifacts if isinstance(each, dict) and each.get("kind") == wanted.artifact_kind
    ]
    if any(fits(wanted.schema, each) for each in given):
        return []
    if not given:
        kinds: list[JsonValue] = [each.get("kind") if isinstance(each, dict) else None for each in call.given.artifacts]
        message = f"an artifact of kind {wanted.artifact_kind} is missing"
        return [_about_contract(wanted, "missing_output", message, kinds)] if wanted.required else []
    wrong = "; ".join(issues(wanted.schema, given[-1]))
    message = f"the artifact {wanted.artifact_kind} does not fit: {wrong}"
    return [_about_contract(wanted, "invalid_output", message, given[-1])]


def _about_contract(wanted: Contract, code: ShortfallCode, message: str, sent: JsonValue) -> Shortfall:
    fix = f"give an artifact of kind {wanted.artifact_kind} that fits the schema, such as the example"
    return Shortfall(code, message, wanted.ref, fix, schema=wanted.schema, example=minimal(wanted.schema), sent=sent)


def _criteria(call: _Call) -> list[Shortfall]:
    rules = call.action.validation
    # A step with a contract may come without notes, and then there is nothing to hold against the rules.
    if rules is None or (call.action.contract is not None and not call.given.notes.strip()):
        return []
    failed = unmet(rules, call.given.notes, visible(call.plan, call.state))
    fix = "; ".join(requirements(rules))
    return [Shortfall("validation_failed", message, "notes", fix) for message in failed]


def _notes(call: _Call) -> list[Shortfall]:
    action = call.action
    if action.notes_optional or action.contract is not None or call.given.notes.strip():
        return []
    fix = "say in the notes what was done, what was found and decided, and what is open"
    return [
        Shortfall("missing_notes", "the step needs notes", "notes", fix, example="## Done\n…", sent=call.given.notes)
    ]


def _lacking_next(call: _Call, ended: StepEnded) -> tuple[Shortfall, ...]:
    """Look ahead: if a loop that follows could not be decided, what it lacks is asked for now."""
    after = apply(call.state, ended, call.state.seq + 1, _no_blobs)
    then = advance(call.plan, after, call.now, _no_blobs).state
    found = lacking(call.plan, then) if then.status == "blocked" else None
    if found is None:
        return ()
    fix = f"send '{found.variable}' in the context, together with the same notes and artifacts"
    return (Shortfall("missing_context", then.message, found.variable, fix, sent=then.context.get(found.variable)),)


def _ended(call: _Call, judged: Assessed) -> StepEnded:
    output = _output(call.given)
    levels: dict[str, JsonValue] = {}
    for each in judged.judgments:
        of_one = levels.setdefault(each.assessment, {})
        if isinstance(of_one, dict):
            of_one[each.dimension] = {"level": each.level, "rationale": each.rationale, "normalized": each.normalized}
    if levels:
        output["assessments"] = levels
    control = loop_control(call.given.artifacts)
    details: dict[str, JsonValue] = {"loop_control": control} if control else {}
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


def _refused(merged: tuple[Event, ...], call: _Call, shortfalls: tuple[Shortfall, ...]) -> Completion:
    refusal = StepRefused(
        address=call.pending.address,
        began=call.pending.seq,
        shortfalls=shortfalls,
        output=_output(call.given),
        by=call.given.by,
        at=call.now,
    )
    stop = (_given_up(call, shortfalls),) if call.pending.attempt >= MOST_REFUSALS else ()
    return Completion((*merged, refusal, *stop), shortfalls)


def _given_up(call: _Call, shortfalls: tuple[Shortfall, ...]) -> RunBlocked:
    """Who is refused again and again does not get it right alone: a person looks at it."""
    run, address = call.state.run, call.pending.address
    return RunBlocked(
        reason="step",
        message=f"step '{address}' was refused {call.pending.attempt} times, at last because {shortfalls[0].message}",
        address=address,
        next_step=f"handrail release {run}, then take it again for one more try, or resume it to begin the step anew",
        at=call.now,
    )


def _output(given: Given) -> dict[str, JsonValue]:
    return {"notes": kept_notes(given.notes), "artifacts": list(given.artifacts)}


def kept_notes(notes: str) -> str:
    """Cut notes to what is kept of them, at a whole character."""
    data = notes.encode(errors="replace")
    if len(data) <= MOST_NOTES:
        return data.decode()
    return data[: MOST_NOTES - len(CUT)].decode(errors="ignore") + CUT


def loop_control(artifacts: tuple[JsonValue, ...]) -> str:
    """Give the decision of the newest loop-control artifact that is in order; empty when there is none."""
    for each in reversed(artifacts):
        if not isinstance(each, dict) or each.get("kind") != LOOP_CONTROL:
            continue
        decision = each.get("decision")
        if decision in ("continue", "stop") and each.keys() <= _CONTROL_KEYS:
            return str(decision)
    return ""

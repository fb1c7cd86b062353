"""The answers to a connected agent: built from the log alone, so that the same point always has the same answer."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

from handrail.engine.guided.texts import PERSON, opening_rules
from handrail.engine.state.scope import render_value
from handrail.engine.text.byte_limits import MAX_FIX, MAX_MESSAGE, MAX_SHORTFALLS, cut, cut_value
from handrail.frozen import frozen
from handrail.model.codec import decode
from handrail.model.history.events import Event, Shortfall, ShortfallCode, StepEnded, StepRefused
from handrail.model.history.run_state import Pending, RunState
from handrail.model.tokens import NO_BRANCH
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext, holder_in
from handrail.operations.pull.decision_trace import TraceEntry, trace_of
from handrail.operations.pull.pending_step import PulledStep, find_due_step, is_repairable, step_at
from handrail.operations.views.run_document import approval_of
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import plan_of

Lifecycle: TypeAlias = Literal["start", "advance", "rehydrate"]
NextIntent: TypeAlias = Literal[
    "perform_pending_then_continue", "await_user_confirmation", "rehydrate_only", "complete"
]

CODES: dict[ShortfallCode, str] = {
    "missing_output": "MISSING_REQUIRED_OUTPUT",
    "invalid_output": "INVALID_REQUIRED_OUTPUT",
    "missing_assessment": "MISSING_REQUIRED_OUTPUT",
    "invalid_assessment": "INVALID_REQUIRED_OUTPUT",
    "validation_failed": "INVALID_REQUIRED_OUTPUT",
    "missing_notes": "MISSING_REQUIRED_NOTES",
    "follow_up": "ASSESSMENT_FOLLOWUP_REQUIRED",
    "bad_context": "CONTEXT_BUDGET_EXCEEDED",
    "missing_context": "MISSING_CONTEXT_KEY",
    "capability_unknown": "REQUIRED_CAPABILITY_UNKNOWN",
    "capability_unavailable": "REQUIRED_CAPABILITY_UNAVAILABLE",
    "missing_delegation": "MISSING_REQUIRED_OUTPUT",
    "invalid_delegation": "INVALID_REQUIRED_OUTPUT",
    "not_confirmed": "USER_ONLY_DEPENDENCY",
    "not_proven": "NOT_PROVEN",
}
_OVER = ("succeeded", "failed", "cancelled")
_FIX_CHECK = "fix what it names, then make this call: Handrail checks it again, and continues if it passes"


@frozen(kw_only=True)
class Blocker:
    """One obstacle, with the names and sizes that agents know; the log has shortfalls instead."""

    code: str
    message: str
    about: str = ""
    fix: str = ""
    schema: JsonValue = None
    example: JsonValue = None
    sent: JsonValue = None


@frozen(kw_only=True)
class Item:
    """A piece of text beside the answer, which the agent gets as a separate item."""

    kind: str
    text: str
    data: JsonValue = None
    """The same as data for programs, if text is not enough."""


@frozen(kw_only=True)
class Caution:
    """Something that the agent should know and that blocks nothing."""

    code: str
    message: str
    data: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@frozen(kw_only=True)
class Answer:
    """The state of the run after a call, and what the agent should do."""

    run: str
    state: RunState
    lifecycle: Lifecycle
    step: PulledStep | None = None
    working: bool = False
    """The engine is busy with a step of its own: the agent looks again a little later."""
    blockers: tuple[Blocker, ...] = ()
    retryable: bool = False
    shortfalls: tuple[Shortfall, ...] = ()
    continue_token: str | None = None
    checkpoint_token: str | None = None
    before: tuple[Item, ...] = ()
    after: tuple[Item, ...] = ()
    """Items that come before and after the answer's own text."""
    recovery: str = ""
    """What was done so far, for an agent that knows nothing about it."""
    warnings: tuple[Caution, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    """What was decided since the call, and why."""
    assessed: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The accepted judgments of the call: each assessment with its dimensions."""

    @property
    def kind(self) -> Literal["ok", "blocked"]:
        """Whether what was sent was accepted."""
        return "blocked" if self.blockers else "ok"

    @property
    def is_complete(self) -> bool:
        """Whether the run has ended."""
        return self.state.status in _OVER

    @property
    def is_repairable(self) -> bool:
        """Whether a check of the engine blocks the run, which a call lets the engine repeat."""
        return self.step is None and not self.working and is_repairable(self.state)

    @property
    def intent(self) -> NextIntent:
        """What the agent should do next."""
        if self.is_complete:
            return "complete"
        if self.step is None:
            return "perform_pending_then_continue" if self.is_repairable else "rehydrate_only"
        asks_agent = self.step.confirmation not in (None, PERSON)
        return "await_user_confirmation" if asks_agent else "perform_pending_then_continue"


def answer_at(
    ctx: CallContext, state: RunState, lifecycle: Lifecycle, happened: Sequence[Event] = (), branch: str = NO_BRANCH
) -> Answer:
    """Build the answer at a point of a run's history, after the events that led there from the call."""
    answer = Answer(
        run=state.run, state=state, lifecycle=lifecycle, trace=trace_of(happened), assessed=_find_assessments(happened)
    )
    pending = state.pending
    holder = holder_in(state.held_by)
    seq = state.seq if pending is None else pending.seq
    point = ctx.mint("continue", state.run, seq, holder or "00000000", branch)
    if not answer.is_complete:
        answer = replace(answer, continue_token=point)
    due = find_due_step(ctx, state)
    if due is not None:
        answer = replace(answer, step=step_at(ctx, state, due, rules_at(ctx, state, lifecycle)))
        if state.status == "blocked":
            lacks = shortfalls_at(ctx, state)
            told = tuple(blocker_of(each) for each in lacks[:MAX_SHORTFALLS]) or (_make_retry_blocker(ctx, state),)
            return replace(answer, shortfalls=lacks, blockers=told, retryable=True)
        checkpoint = ctx.mint("checkpoint", state.run, seq, holder, branch)
        return _add_refusal(replace(answer, checkpoint_token=checkpoint), due, happened)
    if state.status == "running" or (state.status == "queued" and not state.message):
        # One that was just queued may begin at once: whoever drives it finds out.
        return replace(answer, working=True)
    if answer.is_complete:
        return answer
    goes_on = is_repairable(state) or state.status == "queued" or state.reason in ("timer", "quota")
    return replace(answer, blockers=(_make_standstill_blocker(ctx, state),), retryable=goes_on)


def rules_at(ctx: CallContext, state: RunState, lifecycle: Lifecycle) -> tuple[str, ...]:
    """Return the rules of the whole workflow, for an agent that starts or returns; one that continues has them."""
    guided = plan_of(ctx.log, state.plan).guided if lifecycle != "advance" else None
    if guided is None:
        return ()
    return opening_rules(guided) if lifecycle == "start" else guided.meta_guidance


def _find_assessments(happened: Sequence[Event]) -> dict[str, JsonValue]:
    for event in happened:
        if isinstance(event, StepEnded):
            given = event.details.get("assessments")
            found = event.output.get("assessments") if isinstance(event.output, dict) else given
            found = given if found is None else found
            return found if isinstance(found, dict) else {}
    return {}


def _add_refusal(answer: Answer, pending: Pending, happened: Sequence[Event]) -> Answer:
    """If what was sent was not accepted, add the reason; the step is still pending."""
    for event in reversed(happened):
        if isinstance(event, StepRefused) and event.address == pending.address:
            return replace(
                answer,
                shortfalls=event.shortfalls,
                blockers=tuple(blocker_of(each) for each in event.shortfalls[:MAX_SHORTFALLS]),
                retryable=True,
            )
        if isinstance(event, StepEnded) and event.status == "failed" and event.address == pending.address:
            lacks = _shortfalls(event)
            if lacks:
                told = tuple(blocker_of(each) for each in lacks[:MAX_SHORTFALLS])
                return replace(answer, shortfalls=lacks, blockers=told, retryable=True)
            fix = str(event.details.get("feedback") or "fix the cause, then complete the step again")
            blocker = _cut_blocker("NOT_PROVEN", event.error, event.address, fix)
            return replace(answer, blockers=(blocker,), retryable=True)
    return answer


def _shortfalls(ended: StepEnded) -> tuple[Shortfall, ...]:
    """Return what the outcome of a native step lacks, apart from proof."""
    found = ended.details.get("shortfalls")
    return tuple(decode(Shortfall, each) for each in found) if isinstance(found, list) else ()


def shortfalls_at(ctx: CallContext, state: RunState) -> tuple[Shortfall, ...]:
    """Return what the step at which a run is blocked lacks, as reported after its last try."""
    if state.failure is None:
        return ()
    began = state.steps[state.failure.address].began
    for stored in ctx.log.read(state.run, after=began):
        event = decode_event(stored)
        if isinstance(event, StepEnded) and event.began == began:
            return _shortfalls(event)
    return ()


def blocker_of(shortfall: Shortfall) -> Blocker:
    """Convert a shortfall to the form that agents know, within its size limits."""
    return Blocker(
        code=CODES[shortfall.code],
        message=cut(shortfall.message, MAX_MESSAGE),
        about=cut(shortfall.about, MAX_MESSAGE),
        fix=cut(shortfall.fix, MAX_FIX),
        schema=shortfall.schema,
        example=shortfall.example,
        sent=cut_value(shortfall.sent),
    )


def _cut_blocker(code: str, message: str, about: str, fix: str) -> Blocker:
    return Blocker(code=code, message=cut(message, MAX_MESSAGE), about=about, fix=cut(fix, MAX_FIX))


def _make_retry_blocker(ctx: CallContext, state: RunState) -> Blocker:
    """Describe what keeps a step of the agent from being done, which it may hand in again."""
    if state.failure is None:
        return _make_standstill_blocker(ctx, state)
    fix = state.failure.feedback or "fix the cause, then hand in the step again"
    return _cut_blocker("NOT_PROVEN", state.failure.error, state.failure.address, fix)


def _make_standstill_blocker(ctx: CallContext, state: RunState) -> Blocker:
    """Describe what the run waits for if that is not the agent."""
    if is_repairable(state) and state.failure is not None:
        fix = f"{_FIX_CHECK} (a person does the same with: handrail resume {state.run})"
        return _cut_blocker("RUN_BLOCKED", state.message, state.blocked_at, fix)
    if state.reason in ("timer", "quota"):
        fix = "wait until then, and rehydrate: the run continues automatically"
        return _cut_blocker("RUN_WAITS", state.message or "the next try of a step is scheduled", "", fix)
    if state.status == "queued":
        fix = "wait a while, and rehydrate: the run starts when its turn comes"
        return _cut_blocker("RUN_WAITS", state.message, "", fix)
    if state.status == "waiting" and state.reason == "approval":
        fix = f"ask your user for: handrail approve {state.run} (or revise, reject); then rehydrate"
        asked = approval_of(ctx.log, state)
        shown = {} if asked is None else asked.show
        values = "".join(f"\n{name}: {render_value(value)}" for name, value in shown.items())
        return _cut_blocker("USER_ONLY_DEPENDENCY", (state.message or "a person must approve") + values, "", fix)
    fix = state.next_step or f"handrail status {state.run}"
    code = "USER_ONLY_DEPENDENCY" if state.status == "waiting" else "RUN_BLOCKED"
    if state.reason == "capability":
        code = CODES["capability_unavailable"]
    about = state.blocked_at if state.status == "blocked" else ""
    return _cut_blocker(code, state.message or f"the run is {state.status}", about, fix)

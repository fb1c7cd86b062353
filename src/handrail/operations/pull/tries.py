"""The tries of a step that a token stands for: what was handed in, what its outcome was, what is handed in again.

1. A refusal ends a try and not the step: the next try of the same step belongs to the token too.
2. What is handed in again unchanged gets the same answer again, unless something else has changed meanwhile.
3. Whether a proof holds depends on the files, not on what is handed in: it is checked again each time.
"""

from collections.abc import Iterator
from typing import TypeAlias

from handrail.engine.guided.context_limits import context_problem
from handrail.engine.guided.delegations import read_delegations
from handrail.engine.guided.demands import Submission
from handrail.engine.guided.notes import truncate_notes
from handrail.frozen import frozen
from handrail.model.history.events import (
    ContextMerged,
    DelegationReported,
    Event,
    PreferencesSet,
    RunResumed,
    RunRewound,
    StepBegan,
    StepEnded,
    StepRefused,
    WorkReported,
)
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext, holder_in
from handrail.ports.log import StoredEvent
from handrail.runtime.event_records import decode_event, redact_value
from handrail.runtime.history import state_before

Outcome: TypeAlias = StepEnded | StepRefused | DelegationReported


@frozen
class Try:
    """One try of a step; its outcome is None while it is open."""

    run: str
    began: int
    """The event that made the step pending."""
    over: int = 0
    """The event that holds its outcome."""
    outcome: Outcome | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the step is still to be done."""
        match self.outcome:
            case StepRefused():
                return True
            case StepEnded(status="failed"):
                return bool(holder_in(self.outcome.by))
            case _:
                return False


def tries_of(ctx: CallContext, run: str, seq: int, address: str = "") -> Iterator[Try]:
    """Yield the tries since an event that made a step pending, or, with an address, since a block there."""
    began = 0 if address else seq
    for stored in ctx.log.read(run, after=seq - 1 if began else seq):
        event = decode_event(stored)
        if isinstance(event, RunRewound):
            return
        if isinstance(event, StepBegan) and event.address == address:
            began = stored.seq
        if stored.seq == seq and began:
            address = str(getattr(event, "address", ""))
        elif began and isinstance(event, Outcome) and event.began == began:
            ended = Try(run, began, stored.seq, event)
            yield ended
            if not ended.is_refused:
                return
            began = stored.seq if isinstance(event, StepRefused) else 0
    if began:
        yield Try(run, began)


def is_pending_point(ctx: CallContext, run: str, seq: int) -> bool:
    """Return whether an event made something pending, so that a token of it stands for a step."""
    found = ctx.log.read(run, after=seq - 1, limit=1)
    return bool(found) and isinstance(decode_event(found[0]), StepBegan | StepRefused | DelegationReported)


def is_repeated(ctx: CallContext, tried: Try, given: Submission, result: JsonValue) -> bool:
    """Return whether what is handed in was handed in before, in this try."""
    kept = redact_value({"notes": truncate_notes(given.notes), "artifacts": list(given.artifacts)}, ctx.writer.redactor)
    match tried.outcome:
        case StepRefused(output=output):
            return output == kept and _is_same_context(ctx, tried, given)
        case DelegationReported(results=results):
            before = state_before(ctx.log, tried.run, tried.over)
            fresh: dict[str, JsonValue] = dict(read_delegations(before, tried.outcome.address, given.artifacts).fresh)
            return redact_value(fresh, ctx.writer.redactor) == results
        case StepEnded(output=output):
            reported = next((each for each in _read_try_events(ctx, tried) if isinstance(each, WorkReported)), None)
            if reported is not None:
                text = ctx.writer.redactor.text(given.notes)
                said = (text, *(redact_value(each, ctx.writer.redactor) for each in (result, list(given.artifacts))))
                return (reported.text, reported.output, list(reported.artifacts)) == said
            if not holder_in(tried.outcome.by) or not isinstance(output, dict):
                return True
            same = {name: output.get(name) for name in ("notes", "artifacts")} == kept
            return same and _is_same_context(ctx, tried, given)
        case None:
            return False


def _is_same_context(ctx: CallContext, tried: Try, given: Submission) -> bool:
    refusal = tried.outcome
    if isinstance(refusal, StepRefused) and any(each.code == "bad_context" for each in refusal.shortfalls):
        # It was too large to be stored: what is too large again counts as the same.
        return bool(context_problem(state_before(ctx.log, tried.run, tried.over).context, given.context))
    merged = [each.changes for each in _read_try_events(ctx, tried) if isinstance(each, ContextMerged)]
    return (merged[0] if merged else {}) == redact_value(dict(given.context), ctx.writer.redactor)


def _read_try_events(ctx: CallContext, tried: Try) -> list[Event]:
    stored: tuple[StoredEvent, ...] = tuple(ctx.log.read(tried.run, after=tried.began, limit=tried.over - tried.began))
    return [decode_event(each) for each in stored]


def is_judged_anew(ctx: CallContext, tried: Try) -> bool:
    """Return whether a person has since changed the conditions under which a try was refused."""
    later = (decode_event(stored) for stored in ctx.log.read(tried.run, after=tried.over))
    return any(isinstance(each, RunResumed | PreferencesSet) for each in later)

"""Checks an agent's result for a native step against what the step requires beside its work.

Judgments are read and followed up as those of a guided step. A shortfall fails the attempt, and the
next attempt gets all of them; a shortfall that a person prefers to skip becomes a gap.
"""

from collections.abc import Sequence
from dataclasses import replace

from handrail.engine.contracts.assessments import follow_ups, levels_of, read_assessments
from handrail.engine.fold.apply import apply
from handrail.engine.guided.repairs import refusal_text
from handrail.engine.state.capabilities import (
    block_without_capability,
    find_capability_gaps,
    find_missing_capabilities,
    read_observations,
)
from handrail.engine.state.preferences import gap_of, split_shortfalls
from handrail.model.codec import encode
from handrail.model.history.events import Event, Shortfall, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue

ARTIFACTS, SHORTFALLS, ASSESSMENTS = "artifacts", "shortfalls", "assessments"
"""Keys in the details of an outcome."""


def judge_agent_step(plan: Plan, state: RunState, step: Step, ended: StepEnded) -> tuple[Event, ...]:
    """Check the requirements of a step and return what was learned beside it; its outcome is the last event."""
    given = ended.details.get(ARTIFACTS)
    artifacts = given if isinstance(given, list) else []
    learnt = read_observations(state, artifacts, ended.by, ended.at)
    for event in learnt:
        state = apply(state, event, state.seq + 1, _no_blobs)
    known = {each.id: each for each in plan.assessments}
    found = read_assessments([known[name] for name in step.assess if name in known], artifacts)
    refusing, passed = split_shortfalls(
        state, (*find_missing_capabilities(plan, state, None, artifacts), *found.shortfalls)
    )
    if not refusing:
        refusing, more = split_shortfalls(state, follow_ups(step.follow_ups, found.judgments))
        passed = (*passed, *more)
    if refusing:
        return (*learnt, _fail_try(ended, refusing), *_block_for_capability(state, ended, refusing))
    gaps = (gap_of(each, ended.address, ended.at) for each in passed)
    lacks = find_capability_gaps(plan, state, None, ended.address, ended.at)
    levels: dict[str, JsonValue] = levels_of(found.judgments)
    kept = {**ended.details, ASSESSMENTS: levels} if levels else ended.details
    return (*learnt, *gaps, *lacks, replace(ended, details=kept))


def _no_blobs(digest: str) -> bytes:
    raise KeyError(digest)


def _fail_try(ended: StepEnded, refusing: Sequence[Shortfall]) -> StepEnded:
    """Fail the attempt; feedback on what else was wrong with it comes first."""
    before = str(ended.details.get("feedback") or "")
    told = "\n\n".join(part for part in (before, refusal_text(refusing)) if part)
    error = "; ".join(part for part in (ended.error, *(each.message for each in refusing)) if part)
    details: dict[str, JsonValue] = {
        **ended.details,
        "feedback": told,
        SHORTFALLS: [encode(each) for each in refusing],
    }
    return replace(ended, status="failed", error=error, details=details)


def _block_for_capability(state: RunState, ended: StepEnded, refusing: Sequence[Shortfall]) -> tuple[Event, ...]:
    lacks = ", ".join(each.about for each in refusing if each.code == "capability_unavailable")
    if not lacks:
        return ()
    message = f"the workflow requires {lacks}, which the agent cannot use"
    return (block_without_capability(state, lacks, ended.address, message, ended.at),)

"""Decides where a copy of a run begins and what it takes over from its source, so that both continue alike."""

from collections.abc import Iterable
from dataclasses import replace

from handrail.model.history.events import (
    CapabilityObserved,
    ContextMerged,
    DelegationReported,
    Event,
    GapRecorded,
    MessageGiven,
    PreferencesSet,
    StepBegan,
    StepRefused,
)
from handrail.model.history.run_state import RunState

_BESIDE = (MessageGiven, PreferencesSet, GapRecorded, CapabilityObserved)
"""Events that belong to no step: they hold for the copy as well."""


def fork_point(source: RunState) -> int:
    """Return the event before which a copy of the run begins, since what is pending belongs to the source alone."""
    pending = source.pending
    if pending is None:
        return source.seq + 1
    # A refused step is pending under the number of the refusal, but the copy begins where the step began.
    return source.steps[pending.address].began if was_refused(source) else pending.seq


def was_refused(source: RunState) -> bool:
    """Whether something was submitted for the pending step that did not complete it."""
    pending = source.pending
    return pending is not None and pending.kind == "step" and source.steps[pending.address].began != pending.seq


def carry_over_events(source: RunState, since: Iterable[Event]) -> tuple[Event, ...]:
    """List what a copy records after its first event, out of what its source recorded since then.

    A refused step is pending in the copy as well, under the copy's own numbers, and with the context that came with the
    refused submission: if the step started over, that context could lead elsewhere. What a person said or prefers
    meanwhile, and what is known about the agent, holds for the copy as well.
    """
    if not was_refused(source):
        return tuple(event for event in since if isinstance(event, _BESIDE))
    found: list[Event] = []
    began = 0
    for event in since:
        number = len(found) + 2
        if isinstance(event, StepRefused | DelegationReported):
            found.append(replace(event, began=began))
            began = number
        elif isinstance(event, StepBegan):
            found.append(event)
            began = number
        elif isinstance(event, (ContextMerged, *_BESIDE)):
            found.append(event)
    return tuple(found)

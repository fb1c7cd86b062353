"""Decides whether a step was confirmed: as reported by a connected agent, otherwise as decided by a person."""

from collections.abc import Sequence

from handrail.engine.guided.prompts import Names, find_confirmer
from handrail.engine.guided.texts import CONFIRMATION, PERSON, confirmation_example
from handrail.engine.state.preferences import STOP_ON_USER, never_stops
from handrail.frozen import frozen
from handrail.model.history.events import ApprovalRequested, GapRecorded, Shortfall
from handrail.model.history.run_state import RunState
from handrail.model.workflow.guidance import Confirmation, DelegateAction, GuidedAction
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import JsonValue

MAX_REVISIONS = 10
"""How often a person may send a step back before it is confirmed or rejected."""


@frozen
class ConfirmationState:
    """Who must confirm a step, and what was answered."""

    asked: str = ""
    """Empty if no confirmation is needed."""
    skipped: bool = False
    """Whether the run continues without asking."""
    said: bool | None = None
    by: str = ""

    def record(self, told_by: str) -> JsonValue:
        """Return the confirmation as it is stored; a yes that an agent reports is attributed to that agent."""
        kept: dict[str, JsonValue] = {"asked": self.asked, "confirmed": bool(self.said)}
        said = {"by": self.by, "told_by": told_by if self.said is not None else ""}
        return {**kept, **{name: value for name, value in said.items() if value}}


def read_confirmation(
    asked: Confirmation | None, state: RunState, names: Names, artifacts: Sequence[JsonValue]
) -> ConfirmationState:
    """Read the confirmation of a step from artifacts; an agent that the engine calls cannot have asked anybody."""
    by = find_confirmer(asked, names) or ""
    told = artifacts if state.held_by and by != PERSON else ()
    for each in reversed(told):
        if by and isinstance(each, dict) and each.get("kind") == CONFIRMATION:
            said, who = each.get("confirmed"), each.get("by")
            return ConfirmationState(by, is_skipped(state, by), said is True, who if isinstance(who, str) else "")
    return ConfirmationState(by, is_skipped(state, by))


def needs_person(state: RunState, found: ConfirmationState) -> bool:
    """Whether the engine must ask a person: nobody else is there to ask, or the step requires it."""
    return bool(found.asked) and not found.skipped and (not state.held_by or found.asked == PERSON)


def request_confirmation(state: RunState, step: Step, address: str, now: float) -> ApprovalRequested:
    """Ask a person to confirm the result of the engine's own agent for a step."""
    output = state.steps[address].output
    notes = output.get("notes") if isinstance(output, dict) else None
    left = MAX_REVISIONS - state.revisions.get(address, 0)
    title = step.action.title if isinstance(step.action, GuidedAction | DelegateAction) else ""
    return ApprovalRequested(
        address=address,
        message=f"confirm '{title or step.name}'",
        show={"notes": notes},
        revise=step.name,
        revisions_left=max(0, left),
        at=now,
    )


def is_skipped(state: RunState, by: str) -> bool:
    """Whether a confirmation is skipped, as a person prefers."""
    return bool(by) and (never_stops(state) or (state.autonomy == STOP_ON_USER and by == "coordinator_eval"))


def confirmation_shortfalls(state: RunState, found: ConfirmationState) -> tuple[Shortfall, ...]:
    """Return the shortfall of a no, which is never skipped, or of a missing confirmation."""
    asks_agent = found.asked and found.asked != PERSON and not found.skipped and state.held_by
    if found.said or (found.said is None and not asks_agent):
        return ()
    message = "the step was not confirmed"
    fix = "make the requested changes, then submit the step again once it is confirmed"
    if found.said is None:
        message = "the step must be confirmed before it is submitted, and no confirmation was sent"
        fix = "show your work to whoever the step names, wait for a yes, then submit the same again with this artifact"
    return (Shortfall("not_confirmed", message, CONFIRMATION, fix, example=confirmation_example()),)


def confirmation_gaps(found: ConfirmationState, address: str, now: float) -> tuple[GapRecorded, ...]:
    """Return the gap for a confirmation that was skipped."""
    if not found.skipped or found.said:
        return ()
    message = f"nobody was asked to confirm step '{address}' ({found.asked})"
    return (GapRecorded(category="user_only_dependency", severity="info", message=message, address=address, at=now),)

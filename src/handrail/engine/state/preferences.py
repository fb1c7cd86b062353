"""How far a run continues on its own: what a person prefers, and what that means for something missing.

1. Only a person sets preferences; nothing that an agent submits can change them.
2. What is skipped is never lost: it becomes a gap, which is reported at the end.
3. What a person refused, and what the run cannot be decided without, is never skipped.
"""

from collections.abc import Iterator, Sequence
from typing import get_args

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.history.events import Event, GapRecorded, PreferencesSet, Shortfall, ShortfallCode
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import Autonomy, Risk

AUTONOMIES: tuple[str, ...] = get_args(Autonomy)
RISKS: tuple[str, ...] = get_args(Risk)
"""Each from the most careful on."""
NEVER_STOP = "full_auto_never_stop"
STOP_ON_USER = "full_auto_stop_on_user_deps"
_NEVER_PASSED: frozenset[ShortfallCode] = frozenset({"missing_context", "not_confirmed"})
_CAPABILITY: frozenset[ShortfallCode] = frozenset({"capability_unknown", "capability_unavailable"})
_RISKED: dict[str, frozenset[ShortfallCode]] = {
    "balanced": frozenset({"capability_unknown"}),
    "aggressive": _CAPABILITY,
}


@frozen(kw_only=True)
class PreferenceChange:
    """A person's preferences; what is empty stays as it is."""

    by: str
    autonomy: str = ""
    risk: str = ""


def decide_preferences(plan: Plan, state: RunState, change: PreferenceChange, now: float) -> tuple[Event, ...]:
    """Return the events that set a person's preferences; none if the run has them already."""
    autonomy, risk = change.autonomy or state.autonomy, change.risk or state.risk
    for value, known in ((autonomy, AUTONOMIES), (risk, RISKS)):
        if value not in known:
            raise UsageError(f"'{value}' is not a valid preference", next_step=f"choose one of {', '.join(known)}")
    if (autonomy, risk) == (state.autonomy, state.risk):
        return ()
    told = [gap["message"] for gap in state.gaps]
    beyond = [message for message in _find_excess_over_advice(plan, autonomy, risk) if message not in told]
    gaps = (GapRecorded(category="unexpected", severity="warning", message=each, at=now) for each in beyond)
    return (PreferencesSet(autonomy=autonomy, risk=risk, by=change.by, at=now), *gaps)


def _find_excess_over_advice(plan: Plan, autonomy: str, risk: str) -> Iterator[str]:
    """Yield a warning for each preference that goes further than the workflow recommends."""
    if plan.guided is None:
        return
    advised = (("autonomy", autonomy, plan.guided.autonomy, AUTONOMIES), ("risk", risk, plan.guided.risk_policy, RISKS))
    for what, wanted, advice, order in advised:
        if advice in order and order.index(wanted) > order.index(advice):
            yield f"{what} is {wanted}, but the workflow recommends {advice} at most"


def never_stops(state: RunState) -> bool:
    """Whether a run continues whatever is missing."""
    return state.autonomy == NEVER_STOP


def split_shortfalls(
    state: RunState, found: Sequence[Shortfall]
) -> tuple[tuple[Shortfall, ...], tuple[Shortfall, ...]]:
    """Divide shortfalls into those that refuse the step and those that are skipped."""
    passed = tuple(each for each in found if _is_passed_over(state, each.code))
    return tuple(each for each in found if each not in passed), passed


def _is_passed_over(state: RunState, code: ShortfallCode) -> bool:
    if code in _NEVER_PASSED:
        return False
    return never_stops(state) or code in _RISKED.get(state.risk, ())


def gap_of(shortfall: Shortfall, address: str, now: float) -> GapRecorded:
    """Build the gap that remains if a shortfall is skipped."""
    return GapRecorded(
        category="capability_missing" if shortfall.code in _CAPABILITY else "contract_violation",
        severity="warning" if shortfall.code == "capability_unknown" else "critical",
        message=shortfall.message,
        address=address,
        about=shortfall.about,
        at=now,
    )

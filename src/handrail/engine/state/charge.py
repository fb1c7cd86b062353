"""Counts what efforts took: for their step, for the steps around it, for the run."""

from collections.abc import Mapping
from typing import Any, cast

from rpds import HashTrieMap

from handrail.model.history import events as ev
from handrail.model.history.run_state import RunState, StepState, changed
from handrail.model.history.spending import TIME_ONLY, Spent
from handrail.model.workflow.values import JsonValue


def spent_on(event: ev.StepEnded, step: StepState) -> dict[str, float]:
    """What the effort took; one that tells nothing took its time, unless somebody outside did it."""
    told = event.details.get("spent")
    if isinstance(told, dict):
        return cast("dict[str, float]", told)
    return {} if event.by else {"seconds": round(max(0.0, event.at - step.began_at), 3)}


def with_spent(step: StepState, spent: Mapping[str, float]) -> StepState:
    """Add what an effort of a step took to what it took before."""
    return step._replace(**sum_of(step, spent))


def sum_of(step: StepState, spent: Mapping[str, float]) -> dict[str, Any]:
    """Give what a step took with an effort more, by field."""
    if spent.keys() <= TIME_ONLY:
        return {"seconds": round(step.seconds + spent.get("seconds", 0.0), 3)}
    total = Spent(step.cost, step.tokens, step.calls, seconds=step.seconds).plus(spent)
    return {"cost": total.usd, "tokens": total.tokens, "calls": total.agent_calls, "seconds": total.seconds}


def charged(state: RunState, spent: Mapping[str, float], **changes: Any) -> RunState:
    """Count what an effort took for the run, and for every step around the effort."""
    return changed(charged_around(state, spent), spent=state.spent.plus(spent), **changes)


def charged_around(state: RunState, spent: Mapping[str, float]) -> RunState:
    """Count what an effort took for every step around it."""
    steps = state.steps
    for frame in state.stack:
        around = frame.loop or frame.group or frame.work
        if around is not None:
            steps = steps.insert(around.address, with_spent(steps[around.address], spent))
    return state if steps is state.steps else changed(state, steps=steps)


def with_used(state: RunState, session: str, used: JsonValue) -> "HashTrieMap[str, JsonValue]":
    """Keep what a conversation took in all, where its agent tells that."""
    return state.used.insert(session, used) if session and used is not None else state.used

"""WorkRail's selection rule: after each step the list is scanned from the top, and the first that applies is next.

A step that did not apply is not done: it runs later, out of order, once its condition holds.
"""

from handrail.engine.contracts.context_conditions import evaluate_condition
from handrail.model.history.events import Event, PassedBy, RunEnded, StepChosen, StepSkipped, Why
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import Expression


def choose(plan: Plan, state: RunState, now: float) -> Event | None:
    """Go to the step that is next, or end the run; None if the run is already at that step."""
    if state.failure is not None:
        return None
    passed: list[PassedBy] = []
    for place, step in enumerate(plan.steps):
        if is_done(state, step):
            continue
        why = reason_for(step, state)
        if why is None or why.result is True:
            if place == state.stack[-1].index:
                return None
            return StepChosen(address=step.name, place=place, passed_by=tuple(passed), at=now)
        passed.append(PassedBy(step.name, why))
    return _end(state, passed, now)


def is_done(state: RunState, step: Step) -> bool:
    """Whether a top-level step is done, so that it is not chosen again."""
    found = state.steps.get(step.name)
    if found is None:
        return False
    if found.status == "skipped":
        return isinstance(step.when, Expression)
    tolerated = found.status == "failed" and step.on_fail in ("continue", "warn")
    return found.status in ("succeeded", "passed_over") or tolerated


def reason_for(step: Step, state: RunState) -> Why | None:
    """Evaluate the condition of a top-level step; None if it has none."""
    if step.when is None or isinstance(step.when, Expression):
        return None
    return evaluate_condition(step.when, state.context)


def _end(state: RunState, passed: list[PassedBy], now: float) -> Event:
    """Record the steps that never applied as skipped, one by one, and then end the run."""
    for each in passed:
        if each.address not in state.steps:
            return StepSkipped(address=each.address, why=each.why, at=now)
    return RunEnded(status="succeeded", at=now)

"""The possible answers of the roles of a review loop: enough to reach every reason to stop."""

from collections.abc import Iterator
from typing import cast

from handrail.engine.review import convergence
from handrail.engine.simulation.endings import cost_details, end_step
from handrail.engine.simulation.world import Choice, World
from handrail.engine.state.position import enclosing_step
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import AgentLoopAction
from handrail.model.workflow.values import JsonValue

MAX_FINDINGS = 5
NEW_UNTIL = 3
"""The last round in which a review finds new things; after it, the open findings only become fewer."""
Findings = list[JsonValue]


def moves(world: World, state: RunState, place: str) -> Iterator[Choice]:
    """Yield the possible outcomes of the role whose turn it is."""
    work = state.stack[-1].work
    data = {} if work is None else work.data
    if data.get("asked"):
        # An answer to the second request leads to the same as one to the first.
        yield _answer_choice(state, place, "still no valid answer", "")
        return
    match data.get("phase"):
        case "review":
            yield from _reviews(world, state, data, place)
        case "judge":
            yield from _judgements(state, data, place)
        case "check":
            yield from _checks(state, data, place)
            return
        case _:
            yield _answer_choice(state, place, "fixed", "fixed")
    if data.get("round") != 1:
        return
    if data.get("phase") in ("review", "judge"):
        yield _answer_choice(state, place, "no valid answer", "")
    yield Choice("an agent fails", (end_step(state, ok=False, output=None, details=cost_details(1)),), place, 1)
    if world.is_cost_relevant and not state.spent.usd:
        spent = end_step(state, ok=True, output=_report([_finding(1)]), details=cost_details(1, all_spent=True))
        yield Choice("an agent uses up the budget", (spent,), place, 1)


def _answer_choice(state: RunState, place: str, says: str, output: JsonValue) -> Choice:
    return Choice(says, (end_step(state, ok=True, output=output, details=cost_details(1)),), place, 1)


def _report(findings: Findings) -> JsonValue:
    return {"findings": findings}


def _finding(number: int, severity: str = "high") -> JsonValue:
    said = f"number {number} is wrong in place{number}"
    return {"file": f"file{number}.py", "rule": f"rule-{number}", "severity": severity, "message": said}


def _reviews(world: World, state: RunState, data: dict[str, JsonValue], place: str) -> Iterator[Choice]:
    """Yield reviews that find nothing, the same, fewer, other or previously resolved findings."""
    yield _answer_choice(state, place, "review finds nothing", _report([]))
    number = cast("int", data.get("round", 1))
    seen = [list(each.open) for each in convergence.read(data["ledger"]).rounds]
    if number == 1 or not seen:
        step = enclosing_step(world.plan, state)
        action = None if step is None else step.action
        rounds, met = (action.max_iterations, action.exit_when) if isinstance(action, AgentLoopAction) else (1, None)
        count = max(2, min(rounds, MAX_FINDINGS))
        first: Findings = [_finding(each) for each in range(1, count + 1)]
        yield _answer_choice(state, place, "review finds something", _report(first))
        if met is not None:
            milder: Findings = [_finding(each, "medium") for each in range(1, count + 1)]
            yield _answer_choice(state, place, "review finds something of medium severity", _report(milder))
        return
    yield from _later_reviews(state, data, place, number)


def _later_reviews(state: RunState, data: dict[str, JsonValue], place: str, number: int) -> Iterator[Choice]:
    last = convergence.names(data["ledger"])["findings"]
    known: Findings = last if isinstance(last, list) else []
    if len(known) > 1:
        yield _answer_choice(state, place, "review finds less", _report(known[1:]))
    yield _answer_choice(state, place, "review finds the same", _report(known))
    if number <= NEW_UNTIL or len(known) == 1:
        fresh: Findings = [_finding(100 * number + each) for each in range(len(known) or 1)]
        yield _answer_choice(state, place, "review finds other things", _report(fresh))
    if number > 2:
        yield _answer_choice(state, place, "review finds again what was fixed", _report([_finding(1), *known]))


def _checks(state: RunState, data: dict[str, JsonValue], place: str) -> Iterator[Choice]:
    """Yield the outcomes of checks, which fail only in the first round, since other rounds lead to the same."""
    yield Choice("checks pass", (end_step(state, ok=True, output={"passed": True}),), place)
    if data.get("round") == 1:
        yield Choice("checks fail", (end_step(state, ok=False, output={"passed": False, "output": "red"}),), place)


def _judgements(state: RunState, data: dict[str, JsonValue], place: str) -> Iterator[Choice]:
    listed = convergence.open_findings(data["ledger"])
    accepted: JsonValue = {"actionable": True, "accepted": [each.id for each in listed], "declined": []}
    declined: JsonValue = [{"id": each.id, "reason": "not worth it"} for each in listed]
    refused: JsonValue = {"actionable": False, "accepted": [], "declined": declined}
    yield _answer_choice(state, place, "arbiter wants it fixed", accepted)
    yield _answer_choice(state, place, "arbiter rejects all", refused)

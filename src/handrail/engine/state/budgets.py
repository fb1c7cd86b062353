"""What a run may still spend: checked before each call of an agent, and in the middle of it where its lines show that.

1. A limit holds for the run and the runs it started. A run that is started gets what is left then; runs that are
   under way at once may therefore overshoot a limit together, each by as much as was left when it began. A call that
   passes what was left when it began is ended; a grant lets it go on in its conversation.
2. A person who resumes a run that stands at its limit grants the same amount once more.
3. The budget of a step counts all that its calls took at its address: its tries, its roles, the runs it started.
4. The budget of a task, such as a gate's `fix`, counts the calls of this task alone. Used up, it ends the task and
   not the run: the step goes on as after the last of them.
5. Minutes are the minutes in which steps were at work, those of runs at the same time added up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import reduce
from typing import Any, Literal, cast

from rpds import HashTrieMap

from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.events import RunBlocked
from handrail.model.history.run_state import RunState, StepState, changed
from handrail.model.history.spending import TIME_ONLY, Spent
from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import Budget
from handrail.model.workflow.values import JsonValue

NAMES = ("usd", "tokens", "minutes", "agent_calls")
SHOWN = ("usd", "tokens")
"""What the lines of an agent can show in the middle of a call."""
AtLimit = Literal["ask", "finish", "stop"]
UNKNOWN_PRICE = "an agent does not tell its price, and the budget says `unknown_price: block`"


@frozen
class Limit:
    """A limit that is reached."""

    message: str
    at_limit: AtLimit


def reached(plan: Plan, state: RunState, step: Step, address: str) -> Limit | None:
    """Give the first limit that allows no further call of an agent."""
    whole = _over(whole_limits(plan, state), state.spent)
    if whole is not None:
        return Limit(whole, _policy(plan.budget, state.around))
    for each, where in (*around(plan, state), (step, address)):
        found = _over(_times(each.budget, 1 + state.granted), spent_at(state, where))
        if found is not None:
            return Limit(f"step '{where}': {found}", _policy(each.budget, plan.budget, state.around))
    if _unpriced(state, step.budget, plan.budget, state.around):
        return Limit(UNKNOWN_PRICE, "stop")
    return None


def reached_by_task(state: RunState, budget: Budget | None, addresses: Iterable[str]) -> Limit | None:
    """Give the limit of a task's own budget, if the calls at its addresses have reached it."""
    if budget is None:
        return None
    found = _over(_times(budget, 1 + state.granted), _spent_by_task(state, addresses))
    if found is None and _unpriced(state, budget):
        found = UNKNOWN_PRICE
    return None if found is None else Limit(found, budget.at_limit or "finish")


def _spent_by_task(state: RunState, addresses: Iterable[str]) -> Spent:
    return reduce(Spent.plus, (asdict(spent_at(state, each)) for each in addresses), Spent())


def at_limit(limit: Limit, address: str, now: float) -> RunBlocked:
    """Let a person decide, since the budget is used up."""
    hint = "resume the run to grant the same amount once more, or stop it"
    return RunBlocked(reason="budget", message=limit.message, address=address, next_step=hint, at=now)


def asks_at_limit(plan: Plan, state: RunState) -> bool:
    """Whether a run that stands at a limit is to ask, by the nearest budget that says what happens there."""
    budgets = [each.budget for each, _ in reversed(around(plan, state))]
    steps = plan.steps
    for frame in state.stack[:-1]:
        steps = body(steps[frame.index].action)
    here = steps[state.stack[-1].index].budget if state.stack and state.stack[-1].index < len(steps) else None
    return _policy(here, *budgets, plan.budget, state.around) == "ask"


def left_for_children(plan: Plan, state: RunState, step: Step | None, address: str) -> dict[str, float]:
    """Give what a run that a step starts now may spend: the least that any budget around it leaves."""
    left = {name: most - used_of(state.spent, name) for name, most in whole_limits(plan, state).items()}
    own = () if step is None else ((step, address),)
    for each, where in (*around(plan, state), *own):
        for name, most in _times(each.budget, 1 + state.granted).items():
            rest = most - used_of(spent_at(state, where), name)
            left[name] = min(left.get(name, rest), rest)
    return {name: max(0.0, rest) for name, rest in left.items()}


def room_for_call(plan: Plan, state: RunState, step: Step, address: str) -> dict[str, float]:
    """Give what a call of an agent may take, of that which its lines can show."""
    return {name: rest for name, rest in left_for_children(plan, state, step, address).items() if name in SHOWN}


def room_of_task(state: RunState, budget: Budget | None, addresses: Iterable[str]) -> dict[str, float]:
    """Give what a task's own budget leaves for a call, of that which its lines can show."""
    taken = _spent_by_task(state, addresses)
    limits = _times(budget, 1 + state.granted)
    return {name: max(0.0, most - used_of(taken, name)) for name, most in limits.items() if name in SHOWN}


def around_children(plan: Plan, state: RunState, step: Step | None) -> Budget | None:
    """Give the budget that a run started now stands in: what one grant adds, and what happens at its limit."""
    inner = () if step is None or step.budget is None else (step.budget,)
    held = (each.budget for each, _ in reversed(around(plan, state)))
    budgets = [each for each in (*inner, *held, plan.budget, state.around) if each is not None]
    if not budgets:
        return None
    said = {name: _first(budgets, name) for name in (*NAMES, "at_limit", "unknown_price")}
    return Budget(**said)


def around(plan: Plan, state: RunState) -> tuple[tuple[Step, str], ...]:
    """Give the steps in whose bodies a run stands, the outermost first, each with its address."""
    found: list[tuple[Step, str]] = []
    steps = plan.steps
    for frame, inner in zip(state.stack, state.stack[1:], strict=False):
        step = steps[frame.index]
        held = inner.loop or inner.group or inner.work
        if held is not None:
            found.append((step, held.address))
        steps = body(step.action)
    return tuple(found)


def _first(budgets: list[Budget], name: str) -> Any:
    return next((value for each in budgets if (value := getattr(each, name)) is not None), None)


def spent_at(state: RunState, address: str) -> Spent:
    """Give what was spent at an address and below it, over its tries."""
    known = state.steps.get(address)
    return Spent() if known is None else Spent(known.cost, known.tokens, known.calls, seconds=known.seconds)


def whole_limits(plan: Plan, state: RunState) -> dict[str, float]:
    """Give the run's own limits and those that its caller leaves it, the lower of each, with what was granted."""
    whole = _times(plan.budget, 1 + state.granted)
    grant = _limits(state.around)
    for name, left in state.allowance.items():
        most = left + state.granted * grant.get(name, left)
        whole[name] = min(whole.get(name, most), most)
    return whole


def _limits(budget: Budget | None) -> dict[str, float]:
    if budget is None:
        return {}
    return {name: float(most) for name in NAMES if (most := getattr(budget, name)) is not None}


def _times(budget: Budget | None, times: int) -> dict[str, float]:
    return {name: most * times for name, most in _limits(budget).items()}


def _over(limits: dict[str, float], spent: Spent) -> str | None:
    for name, most in limits.items():
        if used_of(spent, name) >= most:
            return f"the budget is used up: {_used(name, spent)} of {_shown(name, most)}"
    return None


def used_of(spent: Spent, name: str) -> float:
    """Give how much of what a limit is about was used."""
    return spent.seconds / 60 if name == "minutes" else float(getattr(spent, name))


def _used(name: str, spent: Spent) -> str:
    about = "~" if name == "usd" and spent.estimated else ""
    return about + _shown(name, used_of(spent, name))


def _shown(name: str, amount: float) -> str:
    match name:
        case "usd":
            return f"${amount:.2f}"
        case "minutes":
            return f"{amount:.1f} min"
        case _:
            return f"{amount:,.0f} {name.replace('_', ' ')}"


def _policy(*budgets: Budget | None) -> AtLimit:
    """What happens at a limit: the nearest budget that says it."""
    said: list[AtLimit] = [each.at_limit for each in budgets if each is not None and each.at_limit is not None]
    return said[0] if said else "stop"


def _unpriced(state: RunState, *budgets: Budget | None) -> bool:
    """Whether a call had no price of its own, and nobody has let the run go on all the same."""
    unknown = state.spent.unpriced > 0 or state.spent.estimated > 0
    said = next((each.unknown_price for each in budgets if each is not None and each.unknown_price is not None), None)
    return unknown and not state.granted and said == "block"


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

"""Computes what a run may still spend, checked before each agent call, and during it if the agent reports its usage.

1. A limit holds for the run and the runs it started. A run that is started gets what is left then; runs in progress at
   the same time may therefore overshoot a limit together, each by as much as was left when it began. A call that
   exceeds what was left when it began is ended; a grant lets it continue in its conversation.
2. A person who resumes a run that has reached its limit grants the same amount once more.
3. The budget of a step counts everything its calls spent at its address: its attempts, its roles, the runs it started.
4. The budget of a task, such as a gate's `fix`, counts the calls of this task alone. Once used up, it ends the task and
   not the run: the step continues as after the last of them.
5. Minutes are the minutes in which steps were at work; those of concurrent runs are added up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import reduce
from typing import Any, Literal, cast

from rpds import HashTrieMap

from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.events import RunBlocked
from handrail.model.history.run_state import RunState, StepState, update_state
from handrail.model.history.spending import TIME_ONLY, Spending
from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import Budget
from handrail.model.workflow.values import JsonValue

NAMES = ("usd", "tokens", "minutes", "agent_calls")
SHOWN = ("usd", "tokens")
"""The amounts that an agent's output can show during a call."""
AtLimit = Literal["ask", "finish", "stop"]
UNKNOWN_PRICE = "an agent does not report its price, and the budget has `unknown_price: block`"


@frozen
class ReachedLimit:
    """A limit that has been reached."""

    message: str
    at_limit: AtLimit


def find_reached_limit(plan: Plan, state: RunState, step: Step, address: str) -> ReachedLimit | None:
    """Find the first limit that allows no further call of an agent."""
    whole = _find_exceeded_limit(run_limits(plan, state), state.spent)
    if whole is not None:
        return ReachedLimit(whole, _policy(plan.budget, state.around))
    for each, where in (*enclosing_steps(plan, state), (step, address)):
        found = _find_exceeded_limit(_times(each.budget, 1 + state.granted), spending_at(state, where))
        if found is not None:
            return ReachedLimit(f"step '{where}': {found}", _policy(each.budget, plan.budget, state.around))
    if _has_unknown_price(state, step.budget, plan.budget, state.around):
        return ReachedLimit(UNKNOWN_PRICE, "stop")
    return None


def find_reached_task_limit(state: RunState, budget: Budget | None, addresses: Iterable[str]) -> ReachedLimit | None:
    """Return the limit of a task's own budget, if the calls at its addresses have reached it."""
    if budget is None:
        return None
    found = _find_exceeded_limit(_times(budget, 1 + state.granted), _task_spending(state, addresses))
    if found is None and _has_unknown_price(state, budget):
        found = UNKNOWN_PRICE
    return None if found is None else ReachedLimit(found, budget.at_limit or "finish")


def _task_spending(state: RunState, addresses: Iterable[str]) -> Spending:
    return reduce(Spending.plus, (asdict(spending_at(state, each)) for each in addresses), Spending())


def block_at_limit(limit: ReachedLimit, address: str, now: float) -> RunBlocked:
    """Block the run for a person to decide, since the budget is used up."""
    hint = "resume the run to grant the same amount again, or stop it"
    return RunBlocked(reason="budget", message=limit.message, address=address, next_step=hint, at=now)


def asks_at_limit(plan: Plan, state: RunState) -> bool:
    """Whether a run at a limit should ask, according to the nearest budget that says what happens there."""
    budgets = [each.budget for each, _ in reversed(enclosing_steps(plan, state))]
    steps = plan.steps
    for frame in state.stack[:-1]:
        steps = body(steps[frame.index].action)
    here = steps[state.stack[-1].index].budget if state.stack and state.stack[-1].index < len(steps) else None
    return _policy(here, *budgets, plan.budget, state.around) == "ask"


def remaining_budget(plan: Plan, state: RunState, step: Step | None, address: str) -> dict[str, float]:
    """Compute what a run that a step starts now may spend: the least that any budget around it leaves."""
    left = {name: most - usage_of(state.spent, name) for name, most in run_limits(plan, state).items()}
    own = () if step is None else ((step, address),)
    for each, where in (*enclosing_steps(plan, state), *own):
        for name, most in _times(each.budget, 1 + state.granted).items():
            rest = most - usage_of(spending_at(state, where), name)
            left[name] = min(left.get(name, rest), rest)
    return {name: max(0.0, rest) for name, rest in left.items()}


def room_for_call(plan: Plan, state: RunState, step: Step, address: str) -> dict[str, float]:
    """Compute what an agent call may spend, of the amounts that its output can show."""
    return {name: rest for name, rest in remaining_budget(plan, state, step, address).items() if name in SHOWN}


def room_of_task(state: RunState, budget: Budget | None, addresses: Iterable[str]) -> dict[str, float]:
    """Compute what a task's own budget leaves for a call, of the amounts that its output can show."""
    taken = _task_spending(state, addresses)
    limits = _times(budget, 1 + state.granted)
    return {name: max(0.0, most - usage_of(taken, name)) for name, most in limits.items() if name in SHOWN}


def enclosing_budget(plan: Plan, state: RunState, step: Step | None) -> Budget | None:
    """Return the budget around a run started now: what one grant adds, and what happens at its limit."""
    inner = () if step is None or step.budget is None else (step.budget,)
    held = (each.budget for each, _ in reversed(enclosing_steps(plan, state)))
    budgets = [each for each in (*inner, *held, plan.budget, state.around) if each is not None]
    if not budgets:
        return None
    said = {name: _first(budgets, name) for name in (*NAMES, "at_limit", "unknown_price")}
    return Budget(**said)


def enclosing_steps(plan: Plan, state: RunState) -> tuple[tuple[Step, str], ...]:
    """List the steps whose bodies the run is in, the outermost first, each with its address."""
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


def spending_at(state: RunState, address: str) -> Spending:
    """Return what was spent at an address and below it, over all attempts."""
    known = state.steps.get(address)
    return Spending() if known is None else Spending(known.cost, known.tokens, known.calls, seconds=known.seconds)


def run_limits(plan: Plan, state: RunState) -> dict[str, float]:
    """Compute the run's own limits and those that its caller leaves it, the lower of each, including grants."""
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


def _find_exceeded_limit(limits: dict[str, float], spent: Spending) -> str | None:
    for name, most in limits.items():
        if usage_of(spent, name) >= most:
            return f"the budget is used up: {_format_usage(name, spent)} of {_format_amount(name, most)}"
    return None


def usage_of(spent: Spending, name: str) -> float:
    """Return how much was used of what a limit is about."""
    return spent.seconds / 60 if name == "minutes" else float(getattr(spent, name))


def _format_usage(name: str, spent: Spending) -> str:
    about = "~" if name == "usd" and spent.estimated else ""
    return about + _format_amount(name, usage_of(spent, name))


def _format_amount(name: str, amount: float) -> str:
    match name:
        case "usd":
            return f"${amount:.2f}"
        case "minutes":
            return f"{amount:.1f} min"
        case _:
            return f"{amount:,.0f} {name.replace('_', ' ')}"


def _policy(*budgets: Budget | None) -> AtLimit:
    """Return what happens at a limit, according to the nearest budget that says it."""
    said: list[AtLimit] = [each.at_limit for each in budgets if each is not None and each.at_limit is not None]
    return said[0] if said else "stop"


def _has_unknown_price(state: RunState, *budgets: Budget | None) -> bool:
    """Whether a call had no price of its own, and nobody has granted the run to continue anyway."""
    unknown = state.spent.unpriced > 0 or state.spent.estimated > 0
    said = next((each.unknown_price for each in budgets if each is not None and each.unknown_price is not None), None)
    return unknown and not state.granted and said == "block"


def spending_of(event: ev.StepEnded, step: StepState) -> dict[str, float]:
    """Return what an action spent; if that is not reported, its time, unless somebody outside performed it."""
    told = event.details.get("spent")
    if isinstance(told, dict):
        return cast("dict[str, float]", told)
    return {} if event.by else {"seconds": round(max(0.0, event.at - step.began_at), 3)}


def add_spending(step: StepState, spent: Mapping[str, float]) -> StepState:
    """Add what an action of a step spent to what it spent before."""
    return step._replace(**sum_of(step, spent))


def sum_of(step: StepState, spent: Mapping[str, float]) -> dict[str, Any]:
    """Compute the total spent by a step including one more action, by field."""
    if spent.keys() <= TIME_ONLY:
        return {"seconds": round(step.seconds + spent.get("seconds", 0.0), 3)}
    total = Spending(step.cost, step.tokens, step.calls, seconds=step.seconds).plus(spent)
    return {"cost": total.usd, "tokens": total.tokens, "calls": total.agent_calls, "seconds": total.seconds}


def charge_run(state: RunState, spent: Mapping[str, float], **changes: Any) -> RunState:
    """Charge what an action spent to the run and to every step around it."""
    return update_state(charge_enclosing_steps(state, spent), spent=state.spent.plus(spent), **changes)


def charge_enclosing_steps(state: RunState, spent: Mapping[str, float]) -> RunState:
    """Charge what an action spent to every step around it."""
    steps = state.steps
    for frame in state.stack:
        around = frame.loop or frame.group or frame.work
        if around is not None:
            steps = steps.insert(around.address, add_spending(steps[around.address], spent))
    return state if steps is state.steps else update_state(state, steps=steps)


def add_session_usage(state: RunState, session: str, used: JsonValue) -> "HashTrieMap[str, JsonValue]":
    """Store the total usage of a conversation, if its agent reports it."""
    return state.used.insert(session, used) if session and used is not None else state.used

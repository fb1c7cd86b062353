"""The cost of agents, step by step: summed up from the events of a run and all its child runs."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from handrail.engine.state.budgets import run_limits, usage_of
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import StepBegan, StepRefused
from handrail.model.history.run_state import RunState
from handrail.model.history.spending import Spending
from handrail.operations.views.event_sentences import spending_in
from handrail.operations.views.step_addresses import Member, members
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import events_by_one_clock, plan_of, state_before, state_of
from handrail.runtime.ports import machine_clock, steady_time

if TYPE_CHECKING:
    from handrail.engine.guided import agent_call as guided_calls
else:
    guided_calls = late_import("handrail.engine.guided.agent_call")

SPENDING_FIELDS = tuple(each.name for each in fields(Spending))


@frozen
class Share:
    """The cost of one step, all its tries together."""

    address: str
    spent: Spending


@frozen
class Cost:
    """The cost of a run."""

    run: str
    shares: tuple[Share, ...]
    total: Spending
    copied: Spending
    """The part of it that its source had spent before the fork."""
    elapsed: float
    """Seconds from its beginning to its end, or until now."""
    budget: dict[str, tuple[float, float]]
    """For each limit, what is used and the maximum."""


def cost_of(log: Log, run: str) -> Cost:
    """Sum up the cost of a run, with its items and the workflows it called."""
    state = state_of(log, run)
    shares: dict[str, Spending] = {}
    calls = [call for member in members(log, run) for call in _calls(log, member)]
    for _, address, spent in sorted(calls, key=lambda call: call[0]):
        shares[address] = add_spending(shares.get(address, Spending()), spent)
    before = _find_fork_source(log, state)
    rows = [Share(f"(before the copy of {before[0]})", before[1])] if before else []
    rows += [Share(address, spent) for address, spent in shares.items()]
    total = sum_of(tuple(row.spent for row in rows))
    most = run_limits(plan_of(log, state.plan), state)
    budget = {name: (usage_of(total, name), limit) for name, limit in most.items()}
    return Cost(run, tuple(rows), total, before[1] if before else Spending(), run_duration(log, state), budget)


def total_of(costs: Sequence[Cost]) -> Spending:
    """Sum up the cost of several runs; what was spent before a fork was spent by its source."""
    amounts = {
        name: sum(getattr(each.total, name) - getattr(each.copied, name) for each in costs) for name in SPENDING_FIELDS
    }
    return Spending().plus(amounts)


def run_duration(log: Log, state: RunState) -> float:
    """Return the seconds from the creation of a run or fork until it ended, or until now."""
    began = decode_event(log.read(state.run, limit=1)[0]).at
    now = state.ended_at or steady_time(machine_clock(), state)
    return max(0.0, now - state.set_by - began)


def add_spending(one: Spending, other: Spending) -> Spending:
    """Add the costs of two calls."""
    return one.plus({name: getattr(other, name) for name in SPENDING_FIELDS})


def sum_of(parts: tuple[Spending, ...]) -> Spending:
    """Sum up several costs."""
    total = Spending()
    for each in parts:
        total = add_spending(total, each)
    return total


def _calls(log: Log, member: Member) -> Iterator[tuple[float, str, Spending]]:
    began: dict[int, StepBegan] = {}
    for seq, event in events_by_one_clock(log, member.run):
        if isinstance(event, StepBegan):
            began[seq] = event
        begin = began.pop(getattr(event, "began", -1), None)
        if isinstance(event, StepRefused) and begin is not None:
            began[seq] = guided_calls.call_again(begin, event)
        if begin is not None and event.kind in ("step_ended", "step_refused", "question_asked"):
            known = spending_in(event) or Spending()
            took = round(max(0.0, event.at - begin.at), 3)
            yield begin.at, f"{member.via}{begin.address}", replace(known, seconds=took)


def spending_before_fork(log: Log, run: str) -> Spending:
    """Return what the source of a fork had spent before the fork."""
    return state_before(log, run, 2).spent


def _find_fork_source(log: Log, state: RunState) -> tuple[str, Spending] | None:
    if state.forked_from is None:
        return None
    spent = state_before(log, state.run, 2).spent
    return (state.forked_from[0], spent) if spent != Spending() else None

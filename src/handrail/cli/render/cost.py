"""The cost of runs as a table."""

from collections.abc import Sequence

from handrail.cli.render.layout import render_table
from handrail.model.history.spending import Spending
from handrail.operations.views.costs import Cost
from handrail.operations.views.money import duration, limit_words, price_words

HEAD = ("", "cost", "tokens", "agent calls", "time")


def render_cost(cost: Cost) -> str:
    """Render the cost of a run, step by step and in total."""
    rows = [HEAD, *(_row(share.address, share.spent) for share in cost.shares), _row(cost.run, cost.total)]
    lines = [render_table(rows, right=(1, 2, 3, 4)), f"took {duration(cost.elapsed)} from start to end"]
    if cost.budget:
        used = " · ".join(limit_words(name, used, most) for name, (used, most) in cost.budget.items())
        lines.append(f"budget: {used}")
    if cost.total.unpriced:
        lines.append(f"{_calls(cost.total.unpriced)} did not report a price")
    return "\n".join(lines)


def render_total(costs: Sequence[Cost], total: Spending) -> str:
    """Render the total cost of several runs."""
    price = price_words(total) or "$0.00"
    return f"{len(costs)} runs: {price}, {total.tokens} tokens, {_calls(total.agent_calls)}"


def _row(name: str, spent: Spending) -> tuple[str, ...]:
    calls = str(spent.agent_calls) if spent.agent_calls else "–"
    tokens = str(spent.tokens) if spent.agent_calls else "–"
    return name, price_words(spent) or "–", tokens, calls, duration(spent.seconds)


def _calls(count: int) -> str:
    return f"{count} agent call" + ("" if count == 1 else "s")

"""The cost of agents as text: an unknown price is never shown as zero."""

from handrail.model.history.spending import Spending
from handrail.model.workflow.settings import Budget
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.overview import usd_words

NAMES = {"usd": "", "tokens": " tokens", "minutes": " min", "agent_calls": " agent calls"}


def price_words(spent: Spending) -> str:
    """Format a price: `$0.31`, `~$0.31` if a part is unknown, `unknown`; empty if nothing was used."""
    if spent.unpriced or spent.estimated:
        return f"~{usd_words(spent.usd)}" if spent.usd else "unknown"
    return usd_words(spent.usd) if spent.tokens or spent.usd else ""


def usd_if_known(spent: Spending) -> float | None:
    """Return the sum of the known prices; None if no price is known at all."""
    return None if spent.unpriced and not spent.usd else spent.usd


def spending_data(spent: Spending) -> dict[str, JsonValue]:
    """Convert a cost to JSON data; `unpriced` counts the calls whose price no agent reported."""
    return {
        "usd": usd_if_known(spent),
        "estimated": spent.estimated,
        "unpriced": spent.unpriced,
        "tokens": spent.tokens,
        "agent_calls": spent.agent_calls,
        "seconds": round(spent.seconds, 3),
    }


def limit_words(name: str, used: float, most: float) -> str:
    """Format how much of a limit is used: `$0.61 of $6.00`."""
    if name == "usd":
        return f"{usd_words(used)} of {usd_words(most)}"
    shown = f"{used:.1f}" if name == "minutes" else f"{used:g}"
    return f"{shown} of {most:g}{NAMES[name]}"


def budget_words(budget: Budget | None) -> str:
    """Format what a workflow may spend at most: `at most $6.00, 90 min`; empty without a limit."""
    most = {} if budget is None else {name: getattr(budget, name) for name in NAMES}
    shown = [usd_words(value) if name == "usd" else f"{value:g}{NAMES[name]}" for name, value in most.items() if value]
    return f"at most {', '.join(shown)}" if shown else ""


def duration(took: float) -> str:
    """Format a duration: `0.1s`, `48s`, `2m10s`, `1h05m`."""
    if took < 10:
        return f"{max(0.0, took):.1f}s"
    minutes, rest = divmod(round(took), 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"

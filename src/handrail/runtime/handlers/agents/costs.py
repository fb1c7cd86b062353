"""What a call of an agent took, as budgets count it."""

from dataclasses import replace
from typing import cast

from handrail.model.history.events import StepBegan
from handrail.model.history.prices import PriceList, estimate
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentOutcome, Usage


def counted(state: RunState, began: StepBegan, outcome: AgentOutcome) -> AgentOutcome:
    """Give what the call itself took, where its agent tells what the whole conversation did."""
    before = state.used.get(str(began.spec.get("session") or ""))
    if outcome.total is None or not isinstance(before, list) or outcome.session != began.spec.get("session"):
        return outcome
    return replace(outcome, usage=outcome.total.beyond(Usage(*cast("list[int]", before))))


def spent(
    usage: Usage, cost: float | None, spec: dict[str, JsonValue], seconds: float, prices: PriceList
) -> dict[str, float]:
    """Give what a call took; the dollars that its agent does not tell are estimated."""
    told = cost is not None or not usage.tokens
    about = None if told else _estimated(usage, spec, prices)
    return {
        "usd": cost or about or 0.0,
        "estimated": about or 0.0,
        "tokens": usage.tokens,
        "agent_calls": 1,
        "unpriced": 0 if told or about is not None else 1,
        "seconds": max(0.0, round(seconds, 3)),
    }


def _estimated(usage: Usage, spec: dict[str, JsonValue], prices: PriceList) -> float | None:
    """Give about what a call cost by the list of prices; None where that does not have the model."""
    agent, _, model = str(spec.get("priced_as") or f"{spec.get('agent', '')}/{spec.get('model', '')}").partition("/")
    price = prices.find(agent, model)
    if price is None:
        return None
    return estimate(price, read=usage.input_tokens, written=usage.output_tokens, cached=usage.cached_tokens)

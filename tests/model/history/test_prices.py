"""The table of prices: which row stands for an agent and its model, and what an estimate comes to."""

import pytest

from handrail.agents.profiles import load_profiles, price_list
from handrail.model.history.prices import Price, PriceList, estimate
from handrail.ports.agent_profiles import AgentProfile

PRICES = price_list()


@pytest.mark.parametrize(
    ("agent", "model", "row"),
    [
        ("claude", "haiku", "haiku"),
        ("claude", "claude-sonnet-4-5", "sonnet"),
        ("claude", None, "claude"),
        ("codex", None, "codex"),
        ("codex", "gpt-5.4-mini", "mini"),
        ("codex", "gpt-5.5", "gpt-5.5"),
        ("codex", "gpt-5.3-codex", "gpt-"),
        ("codex", "gpt-5.1-codex-max", "codex-max"),
        ("gemini", "gemini-3-pro", "gemini"),
        ("gemini", "gemini-2.5-flash-lite", "flash-lite"),
        ("gemini", "gemini-2.5-flash", "flash"),
        ("claude", "a-model-of-tomorrow", "claude"),
    ],
)
def test_a_model_is_priced_by_its_family_and_an_unknown_one_by_its_agent(
    agent: str, model: str | None, row: str
) -> None:
    rows = {each.part: each.price for each in PRICES.families}
    assert PRICES.find(agent, model) == rows[row]


@pytest.mark.parametrize(("agent", "model"), [(None, None), ("", ""), ("mine", "llama")])
def test_what_the_table_does_not_know_has_no_price(agent: str | None, model: str | None) -> None:
    assert PRICES.find(agent, model) is None
    assert PriceList().find(agent, model) is None


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda each: each.name)
def test_an_agent_without_a_model_is_as_dear_as_its_dearest(profile: AgentProfile) -> None:
    dearest = max((each.price.output for each in profile.prices), default=0.0)
    assert dearest <= (0.0 if profile.price is None else profile.price.output)


def test_an_estimate_adds_up_what_was_read_written_and_cached() -> None:
    assert estimate(Price(1.0, 10.0, 0.1), read=1_000_000, written=100_000, cached=10_000_000) == 3.0

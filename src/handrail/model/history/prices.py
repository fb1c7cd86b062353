"""What agents take for their tokens, by family of models: for estimates where an agent tells tokens and no price.

Where models of one family differ, the dearer of those in use stands here: a limit is rather reached early than late.
"""

from handrail.frozen import frozen

AS_OF = "2026-11"
"""When the list prices were looked up."""


@frozen
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float


PRICES: tuple[tuple[str, Price], ...] = (
    ("haiku", Price(1.0, 5.0, 0.1)),
    ("sonnet", Price(3.0, 15.0, 0.3)),
    ("opus", Price(5.0, 25.0, 0.5)),
    ("mini", Price(0.75, 4.5, 0.075)),
    ("codex-max", Price(1.25, 10.0, 0.125)),
    ("gpt-5.5", Price(5.0, 30.0, 0.5)),
    ("gpt-5.4", Price(2.5, 15.0, 0.25)),
    ("gpt-", Price(1.75, 14.0, 0.175)),
    ("flash-lite", Price(0.1, 0.4, 0.01)),
    ("flash", Price(0.5, 3.0, 0.05)),
    ("claude", Price(5.0, 25.0, 0.5)),
    ("codex", Price(5.0, 30.0, 0.5)),
    ("gemini", Price(2.0, 12.0, 0.2)),
)
"""Part of a model's or an agent's name with its price, the most special first; an agent's stands for its dearest."""


def price_of(agent: str | None, model: str | None) -> Price | None:
    """Give the price of an agent's model; None where the table does not know it."""
    for name in (model, agent):
        words = (name or "").lower()
        found = next((price for part, price in PRICES if part in words and not _other(part, words)), None)
        if found is not None:
            return found
    return None


def _other(part: str, words: str) -> bool:
    return part == "mini" and "gemini" in words


def estimate(price: Price, *, read: int, written: int, cached: int) -> float:
    """Give about what a call cost, in US dollars."""
    return round((read * price.input + written * price.output + cached * price.cached) / 1_000_000, 6)

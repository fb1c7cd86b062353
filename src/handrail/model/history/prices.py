"""Prices of tokens by family of models, for estimates where an agent reports tokens but no price.

If models of one family differ, the list has the most expensive of those in use: it is better to reach a limit too early
than too late.
"""

from handrail.frozen import frozen


@frozen
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float


@frozen
class FamilyPrice:
    """The price of a family of models, or of an agent whose model is not known."""

    part: str
    """A part of the names of its models."""
    price: Price
    unless: str = ""
    """A word in which the part means nothing."""

    def is_for(self, name: str) -> bool:
        """Whether a name, in lower case, is of this family."""
        return self.part in name and not (self.unless and self.unless in name)


@frozen
class PriceList:
    """The known prices, the most specific first."""

    families: tuple[FamilyPrice, ...] = ()

    def find(self, agent: str | None, model: str | None) -> Price | None:
        """Find the price of an agent's model; None if it is not in the list."""
        for name in ((model or "").lower(), (agent or "").lower()):
            found = next((each.price for each in self.families if each.is_for(name)), None)
            if found is not None:
                return found
        return None


def estimate(price: Price, *, read: int, written: int, cached: int) -> float:
    """Estimate the cost of a call in US dollars."""
    return round((read * price.input + written * price.output + cached * price.cached) / 1_000_000, 6)

"""What agents take for their tokens, by family of models: for estimates where an agent tells tokens and no price.

Where models of one family differ, the list has the dearer of those in use: a limit is rather reached early than late.
"""

from handrail.frozen import frozen


@frozen
class Price:
    """US dollars for a million tokens."""

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
        """Tell whether a name, in small letters, is of this family."""
        return self.part in name and not (self.unless and self.unless in name)


@frozen
class PriceList:
    """The prices that are known, the most special first."""

    families: tuple[FamilyPrice, ...] = ()

    def find(self, agent: str | None, model: str | None) -> Price | None:
        """Find the price of an agent's model; None where the list does not have it."""
        for name in ((model or "").lower(), (agent or "").lower()):
            found = next((each.price for each in self.families if each.is_for(name)), None)
            if found is not None:
                return found
        return None


def estimate(price: Price, *, read: int, written: int, cached: int) -> float:
    """Give about what a call cost, in US dollars."""
    return round((read * price.input + written * price.output + cached * price.cached) / 1_000_000, 6)

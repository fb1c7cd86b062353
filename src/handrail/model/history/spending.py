"""How calls of agents end, and what they spend: money, tokens, calls and time, added up."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from handrail.frozen import frozen

CallStatus: TypeAlias = Literal[
    "ok",
    "limit",
    "quota",
    "auth",
    "rate_limited",
    "overloaded",
    "network",
    "api_error",
    "no_output",
    "denied",
    "cancelled",
    "timeout",
    "crashed",
]
"""How a call of an agent ended. What waiting may resolve: quota, rate_limited, overloaded, network."""
TIME_ONLY = frozenset({"seconds"})
"""What most actions spend: commands take only time."""


@frozen
class Spending:
    """What agents spent in this run and the runs it started."""

    usd: float = 0.0
    tokens: int = 0
    agent_calls: int = 0
    unpriced: int = 0
    """Calls whose price nobody knows."""
    seconds: float = 0.0
    """How long steps were at work; waiting for a person does not count."""
    estimated: float = 0.0
    """The part of the dollars that no agent reported."""

    def plus(self, more: Mapping[str, float]) -> "Spending":
        """Return the sum."""
        if more.keys() <= TIME_ONLY:
            if not more.get("seconds"):
                return self
            seconds = round(self.seconds + more.get("seconds", 0.0), 3)
            return Spending(self.usd, self.tokens, self.agent_calls, self.unpriced, seconds, self.estimated)
        return Spending(
            round(self.usd + more.get("usd", 0.0), 6),
            self.tokens + int(more.get("tokens", 0)),
            self.agent_calls + int(more.get("agent_calls", 0)),
            self.unpriced + int(more.get("unpriced", 0)),
            round(self.seconds + more.get("seconds", 0.0), 3),
            round(self.estimated + more.get("estimated", 0.0), 6),
        )


NOTHING = Spending()

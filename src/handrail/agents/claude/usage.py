"""What a call of Claude Code used: the sum of what its results report since the one before.

A result also has the cost and the tokens of the whole conversation; those are ignored, since a conversation that
is continued was charged for them already.
"""

from handrail.agents.json_lines import Line, count, number, part, text
from handrail.ports.agents import Usage

_OF_MODEL = ("inputTokens", "cacheCreationInputTokens", "outputTokens", "cacheReadInputTokens")
_OF_MESSAGE = ("input_tokens", "cache_creation_input_tokens", "output_tokens", "cache_read_input_tokens")
Names = tuple[str, str, str, str]


class UsageTotals:
    """Adds up what a call used."""

    def __init__(self) -> None:
        self._settled = Usage()
        self._open: dict[str, Line] = {}
        self.cost: float | None = None
        """In US dollars, as far as results report it."""

    @property
    def usage(self) -> Usage:
        """The total; a lower bound where the call ended without a result."""
        total = self._settled
        for each in self._open.values():
            total = _sum(total, each, _OF_MESSAGE)
        return total

    def add_answer(self, message: Line) -> None:
        """Add an answer of the model, which comes in several lines of one id, each with the same usage."""
        self._open[text(message, "id")] = part(message, "usage")

    def settle(self, result: Line) -> None:
        """Add a result, which includes all answers before it."""
        self._open.clear()
        if "model_usage_since_last_result" not in result:
            self._settled = _sum(self._settled, part(result, "usage"), _OF_MESSAGE)
            return
        models = [each for each in part(result, "model_usage_since_last_result").values() if isinstance(each, dict)]
        for each in models:
            self._settled = _sum(self._settled, each, _OF_MODEL)
        self.cost = (self.cost or 0.0) + sum(number(each.get("costUSD")) or 0.0 for each in models)


def _sum(total: Usage, took: Line, names: Names) -> Usage:
    get = took.get
    read, stored, written, cached = names
    return Usage(
        total.input_tokens + count(get(read)) + count(get(stored)),
        total.output_tokens + count(get(written)),
        total.cached_tokens + count(get(cached)),
    )

"""What compiling gives: the plan, and where each of its steps stands in the files."""

from dataclasses import dataclass, field

from handrail.model.diagnostics import Diagnostic
from handrail.model.plan import Plan
from handrail.model.source import Entry, Node, Span


@dataclass(slots=True)
class Places:
    """Spans of steps by address (`build/test`), and of their keys (`build/test#when`)."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])

    def mark(self, address: str, at: Node | Entry, key: str = "") -> None:
        """Remember where a step, or one of its keys, stands."""
        span = at.key.span if isinstance(at, Entry) else at.span
        self.spans[f"{address}#{key}" if key else address] = span

    def find(self, address: str, key: str = "") -> Span | None:
        """Give the place of a key, else of its step."""
        return self.spans.get(f"{address}#{key}") or self.spans.get(address)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compilation's result; `plan` and `hash` are None when an error was found."""

    plan: Plan | None
    hash: str | None
    diagnostics: tuple[Diagnostic, ...]
    places: Places

    @property
    def ok(self) -> bool:
        """Whether the workflow can be used."""
        return self.plan is not None

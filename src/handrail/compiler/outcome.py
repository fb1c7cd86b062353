"""The result of a compilation: the plan, and the source position of each of its steps."""

from dataclasses import dataclass, field

from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import Entry, Mapping, Node, Span
from handrail.model.workflow.plan import Plan


@dataclass(slots=True)
class StepPositions:
    """Source positions of steps, by address (`build/test`), and of their keys (`build/test#when`)."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    nodes: dict[str, Mapping] = field(default_factory=dict[str, Mapping])

    def remember(self, address: str, node: Mapping) -> None:
        """Store the mapping that a step was written as, through which its keys are found."""
        self.nodes[address] = node

    def mark(self, address: str, at: Node | Entry, key: str = "") -> None:
        """Store the position of a step or of one of its keys."""
        span = at.key.span if isinstance(at, Entry) else at.span
        self.spans[f"{address}#{key}" if key else address] = span

    def find(self, address: str, key: str = "") -> Span | None:
        """Find the position of a key's value, or else of its step."""
        found = self.spans.get(f"{address}#{key}")
        node = self.nodes.get(address)
        if found is None and node is not None:
            value = node.get(key) or node.get("name")
            found = value.span if value is not None else node.span
        return found or self.spans.get(address)


@frozen
class CompileResult:
    """The result of a compilation; `plan` and `hash` are None when an error was found."""

    plan: Plan | None
    hash: str | None
    diagnostics: tuple[Diagnostic, ...]
    places: StepPositions
    asked: tuple[tuple[str, str], ...] = ()
    """The names that were looked up while compiling, each with the origin of the requesting document."""

    @property
    def ok(self) -> bool:
        """Whether the workflow can be used."""
        return self.plan is not None

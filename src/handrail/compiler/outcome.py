"""What compiling gives: the plan, and where each of its steps stands in the files."""

from dataclasses import dataclass, field

from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import Entry, Mapping, Node, Span
from handrail.model.workflow.plan import Plan


@dataclass(slots=True)
class Places:
    """Where steps stand, by address (`build/test`), and their keys (`build/test#when`)."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    nodes: dict[str, Mapping] = field(default_factory=dict[str, Mapping])

    def remember(self, address: str, node: Mapping) -> None:
        """Remember the mapping that a step was written as; its keys are found through it."""
        self.nodes[address] = node

    def mark(self, address: str, at: Node | Entry, key: str = "") -> None:
        """Remember where a step, or one of its keys, stands."""
        span = at.key.span if isinstance(at, Entry) else at.span
        self.spans[f"{address}#{key}" if key else address] = span

    def find(self, address: str, key: str = "") -> Span | None:
        """Give the place of a key's value, else of its step."""
        found = self.spans.get(f"{address}#{key}")
        node = self.nodes.get(address)
        if found is None and node is not None:
            value = node.get(key) or node.get("name")
            found = value.span if value is not None else node.span
        return found or self.spans.get(address)


@frozen
class Compiled:
    """A compilation's result; `plan` and `hash` are None when an error was found."""

    plan: Plan | None
    hash: str | None
    diagnostics: tuple[Diagnostic, ...]
    places: Places
    asked: tuple[tuple[str, str], ...] = ()
    """The names that compiling looked up, each with the origin of the document that asked."""

    @property
    def ok(self) -> bool:
        """Whether the workflow can be used."""
        return self.plan is not None

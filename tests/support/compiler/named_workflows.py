"""Workflows by name, the same for whoever asks."""

from collections.abc import Callable

from handrail.compiler.catalog import EmptyWorkflowIndex
from handrail.model.source import Document


class NamedWorkflows(EmptyWorkflowIndex):
    """Workflows that a function finds by name."""

    def __init__(self, by_name: Callable[[str], Document | None], names: tuple[str, ...] = ()) -> None:
        self._by_name = by_name
        self._names = names

    def find(self, asker: str, name: str) -> Document | None:  # noqa: ARG002
        return self._by_name(name)

    def names(self, asker: str) -> tuple[str, ...]:  # noqa: ARG002
        return self._names

"""What a compilation may draw on beyond the workflow's own files. Sources supply it; the compiler only asks.

What a name means depends on who asks: a name inside a person's own or a built-in workflow never means a file of the
repository. So each document is compiled with `Catalog.inside(document)`, those of nested routines too, and everything
that was asked for is noted: trust is decided over all of it.
"""

from dataclasses import field, replace
from typing import Protocol, TypeAlias

from handrail.compiler.builtins import Builtins
from handrail.frozen import frozen
from handrail.model.source import Document, SourceText

Asked: TypeAlias = dict[tuple[str, str], None]
"""The names that were looked up, each with the origin of the document that asked; an empty name stands for all."""


@frozen
class Obstacle:
    """Why a workflow cannot be used although there is one of that name, as a diagnostic's code, message and hint."""

    code: str
    message: str
    hint: str


class Shelf(Protocol):
    """The workflows of a place, by name; `asker` is the origin of the document in which the name stands."""

    def find(self, asker: str, name: str) -> Document | None:
        """Find a workflow by its name or id, read but not compiled; None where there is none that can be read."""
        ...

    def names(self, asker: str) -> tuple[str, ...]:
        """Name all workflows that the asker may use, also those that cannot be read."""
        ...

    def obstacle(self, asker: str, name: str) -> Obstacle | None:
        """Say why a workflow that exists is not found; None where there is none."""
        ...

    def qualify(self, asker: str, name: str) -> str:
        """Give a name that means the same for everybody: with its tier in front where others would find another."""
        ...


class EmptyShelf:
    """No workflows but the one that is compiled; other shelves may extend it."""

    def find(self, asker: str, name: str) -> Document | None:  # noqa: ARG002 (the protocol's parameters)
        """Find nothing."""
        return None

    def names(self, asker: str) -> tuple[str, ...]:  # noqa: ARG002
        """Name nothing."""
        return ()

    def obstacle(self, asker: str, name: str) -> Obstacle | None:  # noqa: ARG002
        """Know of no obstacle."""
        return None

    def qualify(self, asker: str, name: str) -> str:  # noqa: ARG002
        """Give the name as it is."""
        return name


@frozen
class Catalog:
    """The library, the project's bindings, and the way to other workflows, as one document sees them."""

    builtins: Builtins
    bindings: SourceText | None = None
    """The project's bindings file: JSON `{slot: id}`, or per workflow `{workflow id: {slot: id}}`."""
    shelf: Shelf = field(default_factory=EmptyShelf)
    asker: str = ""
    """The origin of the document that asks; empty for a person, who may start any workflow by name."""
    asked: Asked = field(default_factory=Asked, compare=False)
    routine: Document | None = None
    """The routine that a single template call stands for, where it was found already."""

    def workflow(self, name: str) -> Document | None:
        """Find another workflow by its name or id, read but not compiled; None where there is none."""
        self.asked[self.asker, name] = None
        return self.shelf.find(self.asker, name)

    def names(self) -> tuple[str, ...]:
        """Name all workflows that may be used here, also those that cannot be read."""
        self.asked[self.asker, ""] = None
        return self.shelf.names(self.asker)

    def inside(self, document: Document) -> "Catalog":
        """Give what the names inside a document mean."""
        return self if document.origin == self.asker else replace(self, asker=document.origin)

    def afresh(self) -> "Catalog":
        """Give the same catalog with nothing asked for yet."""
        return replace(self, asked={})

"""What a compilation may use beyond the workflow's own files; sources supply it, and the compiler only queries it.

What a name resolves to depends on who asks: a name in a user's own or a built-in workflow never resolves to a file of
the repository. So every document, those of nested routines included, is compiled with `Catalog.scope_to(document)`, and
every lookup is recorded, because trust is decided over all of them.
"""

from dataclasses import field, replace
from typing import Protocol, TypeAlias

from handrail.compiler.builtins import Builtins
from handrail.frozen import frozen
from handrail.model.source import Document, SourceText

Asked: TypeAlias = dict[tuple[str, str], None]
"""The names that were looked up, each with the origin of the requesting document; an empty name means all names."""


@frozen
class Obstacle:
    """Why an existing workflow cannot be used, as the code, message and hint of a diagnostic."""

    code: str
    message: str
    hint: str


class WorkflowIndex(Protocol):
    """Workflows by name; `asker` is the origin of the document that contains the name."""

    def find(self, asker: str, name: str) -> Document | None:
        """Find a workflow by name or id, parsed but not compiled; None where none can be read."""
        ...

    def names(self, asker: str) -> tuple[str, ...]:
        """List all workflows that the asker may use, including those that cannot be read."""
        ...

    def obstacle(self, asker: str, name: str) -> Obstacle | None:
        """Explain why an existing workflow cannot be used; None where nothing has that name."""
        ...

    def qualify(self, asker: str, name: str) -> str:
        """Return a name that means the same for everyone, with its tier in front where others would find another."""
        ...


class EmptyWorkflowIndex:
    """An index without workflows, for compiling a single one; other indexes may extend it."""

    def find(self, asker: str, name: str) -> Document | None:  # noqa: ARG002 (the protocol's parameters)
        """Find nothing."""
        return None

    def names(self, asker: str) -> tuple[str, ...]:  # noqa: ARG002
        """List nothing."""
        return ()

    def obstacle(self, asker: str, name: str) -> Obstacle | None:  # noqa: ARG002
        """Report no obstacle."""
        return None

    def qualify(self, asker: str, name: str) -> str:  # noqa: ARG002
        """Return the name unchanged."""
        return name


@frozen
class Catalog:
    """The library, the project's bindings and access to other workflows, as seen by one document."""

    builtins: Builtins
    bindings: SourceText | None = None
    """The project's bindings file: JSON `{slot: id}`, or per workflow `{workflow id: {slot: id}}`."""
    index: WorkflowIndex = field(default_factory=EmptyWorkflowIndex)
    asker: str = ""
    """The origin of the requesting document; empty for a person, who may start any workflow by name."""
    asked: Asked = field(default_factory=Asked, compare=False)
    routine: Document | None = None
    """The routine that a single template call refers to, where it has already been found."""

    def workflow(self, name: str) -> Document | None:
        """Find another workflow by name or id, parsed but not compiled; None where there is none."""
        self.asked[self.asker, name] = None
        return self.index.find(self.asker, name)

    def names(self) -> tuple[str, ...]:
        """List all workflows that may be used here, including those that cannot be read."""
        self.asked[self.asker, ""] = None
        return self.index.names(self.asker)

    def scope_to(self, document: Document) -> "Catalog":
        """Return the catalog that resolves names as they are meant inside a document."""
        return self if document.origin == self.asker else replace(self, asker=document.origin)

    def fresh_copy(self) -> "Catalog":
        """Return a copy of the catalog with no lookups recorded."""
        return replace(self, asked={})

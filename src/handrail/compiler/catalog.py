"""What a compilation may draw on beyond the workflow's own files. Sources supply it; the compiler only asks."""

from collections.abc import Callable
from dataclasses import field

from handrail.compiler.builtins import Builtins
from handrail.frozen import frozen
from handrail.model.source import Document, SourceText


def _nowhere(_: str) -> None:
    return None


def _no_names() -> tuple[str, ...]:
    return ()


@frozen
class Catalog:
    """The library, the project's bindings, and the way to other workflows."""

    builtins: Builtins
    bindings: SourceText | None = None
    """The project's bindings file: JSON `{slot: id}`, or per workflow `{workflow id: {slot: id}}`."""
    workflow: Callable[[str], Document | None] = field(default=_nowhere)
    """Finds another workflow by its name or id in the tiers, read but not compiled; None where there is none."""
    names: Callable[[], tuple[str, ...]] = field(default=_no_names)
    """Names all workflows of the tiers, also those that cannot be read; they are looked for when first asked for."""

"""Accessors for a positioned tree about which nothing is certain yet."""

from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.workflow.values import JsonValue


def text_of(node: Node | None) -> str | None:
    """Return a text, or a number as text; None for anything else."""
    if not isinstance(node, Scalar) or node.value is None or isinstance(node.value, bool):
        return None
    return str(node.value)


def flag_of(node: Node | None) -> bool | None:
    """Return a boolean; None for anything else."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, bool) else None


def int_of(node: Node | None) -> int | None:
    """Return an integer; None for anything else."""
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def items_of(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list; empty for anything else."""
    return node.items if isinstance(node, Sequence) else ()


def maps_of(node: Node | None) -> tuple[Mapping, ...]:
    """Return the maps in a list."""
    return tuple(item for item in items_of(node) if isinstance(item, Mapping))


def strays_of(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list of maps that are not maps."""
    return tuple(item for item in items_of(node) if not isinstance(item, Mapping))


def texts_of(node: Node | None) -> tuple[str, ...]:
    """Return the texts in a list."""
    found = (text_of(item) for item in items_of(node))
    return tuple(text for text in found if text is not None)


def map_of(node: Node | None) -> Mapping | None:
    """Return a map; None for anything else."""
    return node if isinstance(node, Mapping) else None


def line_of(node: Node | Entry) -> int:
    """Return the line number of a node or entry."""
    span = node.key.span if isinstance(node, Entry) else node.span
    return span.source.position(span.start).line


def data_of(node: Node) -> JsonValue:
    """Convert a node to plain data."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [data_of(item) for item in node.items]
        case Mapping():
            return {entry.name: data_of(entry.value) for entry in node}

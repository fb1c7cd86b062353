"""Short ways to look into a positioned tree of which nothing is certain yet."""

from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.workflow.values import JsonValue


def text_of(node: Node | None) -> str | None:
    """Give a text, or a number as text; None for anything else."""
    if not isinstance(node, Scalar) or node.value is None or isinstance(node.value, bool):
        return None
    return str(node.value)


def flag_of(node: Node | None) -> bool | None:
    """Give true or false; None for anything else."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, bool) else None


def whole_of(node: Node | None) -> int | None:
    """Give a whole number; None for anything else."""
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def items_of(node: Node | None) -> tuple[Node, ...]:
    """Give the items of a list; none for anything else."""
    return node.items if isinstance(node, Sequence) else ()


def maps_of(node: Node | None) -> tuple[Mapping, ...]:
    """Give the maps in a list."""
    return tuple(item for item in items_of(node) if isinstance(item, Mapping))


def strays_of(node: Node | None) -> tuple[Node, ...]:
    """Give what stands in a list of maps and is none."""
    return tuple(item for item in items_of(node) if not isinstance(item, Mapping))


def texts_of(node: Node | None) -> tuple[str, ...]:
    """Give the texts in a list."""
    found = (text_of(item) for item in items_of(node))
    return tuple(text for text in found if text is not None)


def map_of(node: Node | None) -> Mapping | None:
    """Give a map; None for anything else."""
    return node if isinstance(node, Mapping) else None


def line_of(node: Node | Entry) -> int:
    """Give the line on which something stands."""
    span = node.key.span if isinstance(node, Entry) else node.span
    return span.source.position(span.start).line


def data_of(node: Node) -> JsonValue:
    """Give a node as plain data."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [data_of(item) for item in node.items]
        case Mapping():
            return {entry.name: data_of(entry.value) for entry in node}

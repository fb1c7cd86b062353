"""Reads and rebuilds positioned trees whose shape has already been checked."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from handrail.model.source import Entry, Mapping, Node, Scalar, ScalarValue, Sequence, Span, plain
from handrail.model.workflow.values import JsonValue


def text(node: Mapping, name: str) -> str | None:
    """Return the text under a key, or None."""
    found = node.get(name)
    return found.value if isinstance(found, Scalar) and isinstance(found.value, str) else None


def flag(node: Mapping, name: str, *, default: bool = False) -> bool:
    """Return the boolean under a key, or the default."""
    found = node.get(name)
    return found.value if isinstance(found, Scalar) and isinstance(found.value, bool) else default


def integer(node: Mapping, name: str) -> int | None:
    """Return the integer under a key, or None."""
    found = node.get(name)
    value = found.value if isinstance(found, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(node: Mapping, name: str) -> Mapping | None:
    """Return the mapping under a key, or None."""
    found = node.get(name)
    return found if isinstance(found, Mapping) else None


def items(node: Mapping, name: str) -> tuple[Node, ...]:
    """Return the items of the list under a key; empty where there is no list."""
    found = node.get(name)
    return found.items if isinstance(found, Sequence) else ()


def mappings(node: Mapping, name: str) -> tuple[Mapping, ...]:
    """Return the mappings in the list under a key."""
    return tuple(item for item in items(node, name) if isinstance(item, Mapping))


def scalars(node: Mapping, name: str) -> tuple[Scalar, ...]:
    """Return the scalars in the list under a key."""
    return tuple(item for item in items(node, name) if isinstance(item, Scalar))


def texts(node: Mapping, name: str) -> tuple[str, ...]:
    """Return the texts in the list under a key."""
    return tuple(item.value for item in scalars(node, name) if isinstance(item.value, str))


def json_value(node: Node) -> JsonValue:
    """Convert the tree to JSON data."""
    return cast("JsonValue", plain(node))


def make_scalar(value: ScalarValue, span: Span) -> Scalar:
    """Build a scalar that is attributed to a span of a file."""
    return Scalar(value, span, "made")


def node_of(value: JsonValue, span: Span) -> Node:
    """Build a tree from JSON data, all of it attributed to the same span."""
    if isinstance(value, list):
        return Sequence(tuple(node_of(item, span) for item in value), span)
    if isinstance(value, dict):
        return Mapping({key: Entry(make_scalar(key, span), node_of(item, span)) for key, item in value.items()}, span)
    return make_scalar(value, span)


def move_node(node: Mapping, span: Span) -> Mapping:
    """Return a copy of the tree attributed to another span."""
    return Mapping(
        {entry.name: Entry(make_scalar(entry.name, span), node_of(json_value(entry.value), span)) for entry in node},
        span,
    )


def set_entry(node: Mapping, name: str, value: Node) -> Mapping:
    """Return a mapping with a key set; a new key gets the span of its value."""
    old = node.entries.get(name)
    key = old.key if old is not None else make_scalar(name, value.span)
    return replace(node, entries={**node.entries, name: Entry(key, value)})


def remove_keys(node: Mapping, *names: str) -> Mapping:
    """Return a mapping without some of its keys."""
    return replace(node, entries={name: entry for name, entry in node.entries.items() if name not in names})


def change_texts(node: Node, change: Callable[[Scalar], Scalar], *, skip: str = "") -> Node:
    """Return the tree with each text changed, except those under the key to skip."""
    match node:
        case Scalar():
            return change(node) if isinstance(node.value, str) else node
        case Sequence():
            return replace(node, items=tuple(change_texts(item, change, skip=skip) for item in node.items))
        case Mapping():
            return replace(
                node,
                entries={
                    name: entry if name == skip else Entry(entry.key, change_texts(entry.value, change, skip=skip))
                    for name, entry in node.entries.items()
                },
            )

"""Reads and rebuilds positioned trees whose shape has been checked already."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from handrail.model.source import Entry, Mapping, Node, Scalar, ScalarValue, Sequence, Span, plain
from handrail.model.workflow.values import JsonValue


def text(node: Mapping, name: str) -> str | None:
    """Give the text under a key, or None."""
    found = node.get(name)
    return found.value if isinstance(found, Scalar) and isinstance(found.value, str) else None


def flag(node: Mapping, name: str, *, default: bool = False) -> bool:
    """Give the truth value under a key."""
    found = node.get(name)
    return found.value if isinstance(found, Scalar) and isinstance(found.value, bool) else default


def whole(node: Mapping, name: str) -> int | None:
    """Give the whole number under a key, or None."""
    found = node.get(name)
    value = found.value if isinstance(found, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(node: Mapping, name: str) -> Mapping | None:
    """Give the mapping under a key, or None."""
    found = node.get(name)
    return found if isinstance(found, Mapping) else None


def items(node: Mapping, name: str) -> tuple[Node, ...]:
    """Give the items of the list under a key, none if there is no list."""
    found = node.get(name)
    return found.items if isinstance(found, Sequence) else ()


def mappings(node: Mapping, name: str) -> tuple[Mapping, ...]:
    """Give the mappings in the list under a key."""
    return tuple(item for item in items(node, name) if isinstance(item, Mapping))


def scalars(node: Mapping, name: str) -> tuple[Scalar, ...]:
    """Give the leaves in the list under a key."""
    return tuple(item for item in items(node, name) if isinstance(item, Scalar))


def texts(node: Mapping, name: str) -> tuple[str, ...]:
    """Give the texts in the list under a key."""
    return tuple(item.value for item in scalars(node, name) if isinstance(item.value, str))


def json_value(node: Node) -> JsonValue:
    """Give the tree as JSON data."""
    return cast("JsonValue", plain(node))


def made(value: ScalarValue, span: Span) -> Scalar:
    """Make a leaf that stands for a stretch of a file."""
    return Scalar(value, span, "made")


def node_of(value: JsonValue, span: Span) -> Node:
    """Make a tree from JSON data; all of it stands for the same stretch."""
    if isinstance(value, list):
        return Sequence(tuple(node_of(item, span) for item in value), span)
    if isinstance(value, dict):
        return Mapping({key: Entry(made(key, span), node_of(item, span)) for key, item in value.items()}, span)
    return made(value, span)


def moved(node: Mapping, span: Span) -> Mapping:
    """Give the same tree standing for another stretch."""
    return Mapping(
        {entry.name: Entry(made(entry.name, span), node_of(json_value(entry.value), span)) for entry in node}, span
    )


def with_entry(node: Mapping, name: str, value: Node) -> Mapping:
    """Give a mapping with a key set; a new key stands where its value does."""
    old = node.entries.get(name)
    key = old.key if old is not None else made(name, value.span)
    return replace(node, entries={**node.entries, name: Entry(key, value)})


def without(node: Mapping, *names: str) -> Mapping:
    """Give a mapping without some of its keys."""
    return replace(node, entries={name: entry for name, entry in node.entries.items() if name not in names})


def change_texts(node: Node, change: Callable[[Scalar], Scalar], *, skip: str = "") -> Node:
    """Give the tree with each of its texts changed, except those under the key to skip."""
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

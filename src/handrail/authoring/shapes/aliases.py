"""Other words for keys, put into the words of the format, so that what reads a tree knows one word per key."""

from dataclasses import replace
from typing import Any, cast

from handrail.authoring.shapes import shapes
from handrail.authoring.shapes.conform import choose
from handrail.authoring.shapes.misfits import kind_of
from handrail.authoring.shapes.shapes import Shape
from handrail.model.source import Entry, Mapping, Node, Sequence


def rename_aliases(shape: Shape, node: Node) -> Node:
    """Give a tree that conforms to its shape with every key under its own word; places stay as they are."""
    rename = _RENAMES.get(type(shape))
    return node if rename is None else cast("Node", rename(shape, node))


def _record(shape: shapes.Record, node: Node) -> Node:
    if not isinstance(node, Mapping):
        return node
    entries: dict[str, Entry] = {}
    for written, entry in node.entries.items():
        name = shape.aliases.get(written, written)
        key = replace(entry.key, value=name) if name != written else entry.key
        entries[name] = Entry(key, rename_aliases(shape.keys[name].shape, entry.value))
    return Mapping(entries, node.span)


def _map(shape: shapes.MapOf, node: Node) -> Node:
    if not isinstance(node, Mapping):
        return node
    inside = {name: Entry(each.key, rename_aliases(shape.value, each.value)) for name, each in node.entries.items()}
    return Mapping(inside, node.span)


def _list(shape: shapes.ListOf, node: Node) -> Node:
    if not isinstance(node, Sequence):
        return node
    return Sequence(tuple(rename_aliases(shape.item, item) for item in node.items), node.span)


def _either(shape: shapes.Either, node: Node) -> Node:
    form = shape.forms.get(kind_of(node))
    return node if form is None else rename_aliases(form, node)


def _tagged(shape: shapes.Tagged, node: Node) -> Node:
    record = shape.records.get(choose(shape, node) or "") if isinstance(node, Mapping) else None
    return node if record is None else _record(record, node)


def _ref(shape: shapes.Ref, node: Node) -> Node:
    return rename_aliases(shape.shape(), node)


_RENAMES: dict[type, Any] = {
    shapes.Record: _record,
    shapes.MapOf: _map,
    shapes.ListOf: _list,
    shapes.Either: _either,
    shapes.Tagged: _tagged,
    shapes.Ref: _ref,
}

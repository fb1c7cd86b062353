"""Walks the shapes of the formats: which keys there are, and which of them a workflow uses."""

import re
from collections.abc import Iterator
from typing import cast

from handrail.authoring.shapes.shapes import Choice, Either, Key, ListOf, MapOf, Record, Ref, Shape, Tagged

Keys = dict[str, Key]
ARTICLE = re.compile("^an? ")


def every_record(shape: Shape, seen: set[str] | None = None) -> Iterator[Record]:
    """Give every record that a shape holds, however deep, each reference once."""
    seen = set() if seen is None else seen
    if isinstance(shape, Record):
        yield shape
    if isinstance(shape, Ref):
        if shape.name in seen:
            return
        seen.add(shape.name)
    for inner in _inside(shape):
        yield from every_record(inner, seen)


def _inside(shape: Shape) -> tuple[Shape, ...]:
    match shape:
        case Record():
            return tuple(key.shape for key in shape.keys.values())
        case Either():
            return tuple(shape.forms.values())
        case Tagged():
            return tuple(shape.records.values())
        case ListOf():
            return (shape.item,)
        case MapOf():
            return (shape.value,)
        case Ref():
            return (shape.shape(),)
        case _:
            return ()


def keys_by_record(shape: Shape) -> dict[str, Keys]:
    """Give the keys of each record by its name without article; records of one name are forms of one thing."""
    found: dict[str, Keys] = {}
    for record in every_record(shape):
        name = ARTICLE.sub("", record.what)
        found[name] = {**record.keys, **found.get(name, {})}
    return found


def words(shape: Shape) -> set[str]:
    """Give every word of every choice, older spellings included."""
    found: set[str] = set()
    for record in every_record(shape):
        for key in record.keys.values():
            found |= _words(key.shape)
    return found


def _words(shape: Shape) -> set[str]:
    if isinstance(shape, Choice):
        return {*shape.values, *shape.also}
    inner = () if isinstance(shape, Record | Tagged | Ref) else _inside(shape)
    return {word for each in inner for word in _words(each)}


def used_keys(shape: Shape, data: object) -> Iterator[Key]:
    """Give the keys that a workflow uses, as the very objects of the shapes."""
    if isinstance(shape, Record):
        yield from (shape.keys[name] for name in _mapping(data))
    for inner, value in _parts(shape, data):
        yield from used_keys(inner, value)


def _parts(shape: Shape, data: object) -> list[tuple[Shape, object]]:
    """The values inside a value, each with its shape."""
    match shape:
        case Record():
            return [(shape.keys[name].shape, value) for name, value in _mapping(data).items()]
        case Tagged():
            return [(shape.records[_chosen(shape, _mapping(data))], data)]
        case Either():
            return [(form, data) for kind, form in shape.forms.items() if kind == _kind(data)]
        case ListOf():
            return [(shape.item, item) for item in cast("list[object]", data)]
        case MapOf():
            return [(shape.value, value) for value in _mapping(data).values()]
        case Ref():
            return [(shape.shape(), data)]
        case _:
            return []


def _mapping(data: object) -> dict[str, object]:
    assert isinstance(data, dict)
    return cast("dict[str, object]", data)


def _kind(data: object) -> str:
    return "map" if isinstance(data, dict) else "list" if isinstance(data, list) else "other"


def _chosen(shape: Tagged, data: dict[str, object]) -> str:
    if shape.tag in data:
        return str(data[shape.tag])
    implied = (name for key, name in shape.implied.items() if key in data)
    return next(implied, shape.otherwise or "")

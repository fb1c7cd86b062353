"""Converts what resolve() of a workflow.py returned to the positioned tree that the YAML reader produces.

The author's code created these values, so none of them is trusted to behave: kinds are decided by the real type,
built-in containers are read with the built-in methods, and size, depth and text are limited as in a file.
"""

import re
from dataclasses import MISSING, fields
from math import isfinite
from typing import cast

from handrail.authoring.python.parts import KEYS, Part
from handrail.authoring.python.workflow import Procedure, Workflow
from handrail.authoring.readers.limits import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_INT,
    MAX_NODES,
    SURROGATE,
    ReadingStopped,
    shorten,
)
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import (
    Bundle,
    Document,
    Entry,
    Mapping,
    Node,
    Scalar,
    ScalarValue,
    Sequence,
    SourceText,
    Span,
)

_RESOLVE = re.compile(r"^(async[ \t]+)?def[ \t]+resolve\b.*", re.MULTILINE)
_HINTS = {
    "NoneType": "end it with a line such as `return WORKFLOW`",
    "coroutine": "write `async def resolve` and await it there",
    "generator": "wrap it in list(...)",
    "set": "use a list, which has an order",
    "frozenset": "use a list, which has an order",
    "bytes": "decode it to text",
    "PosixPath": "wrap it in str(...)",
    "PurePosixPath": "wrap it in str(...)",
    "WindowsPath": "wrap it in str(...)",
}
_NAMES = {"NoneType": "nothing", "bytes": "bytes", "str": "text", "int": "a number", "float": "a number"}
_HOLDS = "use text, numbers, True, False, None, lists, dicts and the objects of handrail"


def build_document(workflow: object, bundle: Bundle, report: Report) -> Document | None:
    """Convert a Workflow, a Procedure or a dict to a Document; None when something in it was refused and reported."""
    source = bundle.source
    if not _is(workflow, (Workflow, Procedure, dict)):
        _report_not_workflow(workflow, source, report)
        return None
    builder = _Builder(source, report)
    try:
        root = builder.node(_Place(workflow, _line_span(source, 1) or Span(source, 0, 0)))
    except ReadingStopped:
        return None
    if builder.refused or not isinstance(root, Mapping):
        return None
    return Document("python", "native", root, bundle)


def _report_not_workflow(value: object, source: SourceText, report: Report) -> None:
    found = _RESOLVE.search(source.text)
    at = Span(source, found.start(), found.end()) if found else Span(source, 0, 0)
    hint = _HINTS.get(_type_name(value), 'return Workflow("NAME", steps=[...]), or a dict in the shape of the YAML')
    report.error("python-value", f"resolve() returned {_thing(value)}, not a workflow", at, hint)


@frozen(eq=False)
class _Place:
    """A value with the path that leads to it."""

    value: object
    span: Span
    above: "_Place | None" = None
    key: str | int = ""
    depth: int = 0

    def make_child(self, value: object, key: str | int) -> "_Place":
        return _Place(value, self.span, self, key, self.depth + 1)

    def __str__(self) -> str:
        if self.above is None:
            return "the workflow"
        own = f"[{self.key}]" if isinstance(self.key, int) else f".{shorten(self.key)}"
        return own.lstrip(".") if self.above.above is None else f"{self.above}{own}"

    def is_within_itself(self) -> bool:
        place = self.above
        while place is not None and place.value is not self.value:
            place = place.above
        return place is not None


class _Builder:
    """Builds nodes, counts them, and reports what cannot be converted."""

    def __init__(self, source: SourceText, report: Report) -> None:
        self.refused = False
        self._source = source
        self._report = report
        self._nodes = 0
        self._characters = 0

    def node(self, place: _Place) -> Node:
        """Convert a value to a node; a refused value becomes an empty one."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._stop(place, f"the workflow contains more than {MAX_NODES:,} values")
        value = place.value
        if _is(value, (Part, dict, list, tuple)):
            return self._collection(place)
        if _is(value, str):
            return self._scalar(self._text(cast("str", value), place), place)
        if value is None or value is True or value is False:
            return self._scalar(value, place)
        if _is(value, (int, float)):
            return self._scalar(self._number(cast("float", value), place), place)
        hint = _HINTS.get(_type_name(value), _HOLDS)
        return self._refuse(place, f"{place} contains {_thing(value)}, which a workflow cannot contain", hint)

    def _collection(self, place: _Place) -> Node:
        if place.is_within_itself():
            return self._refuse(place, f"{place} contains itself", "build a new value for each place")
        if place.depth >= MAX_DEPTH:
            raise self._stop(place, f"the workflow is nested deeper than {MAX_DEPTH} levels")
        value = place.value
        if _is(value, Part):
            return self._part(cast("Part", value), place)
        if _is(value, dict):
            return self._mapping(list(dict[object, object].items(cast("dict[object, object]", value))), place)
        return self._sequence(value, place)

    def _sequence(self, value: object, place: _Place) -> Sequence:
        iterate = vars(list if _is(value, list) else tuple)["__iter__"]
        items: list[object] = list(iterate(value))
        return Sequence(tuple(self.node(place.make_child(item, at)) for at, item in enumerate(items)), place.span)

    def _mapping(self, items: list[tuple[object, object]], place: _Place) -> Mapping:
        entries: dict[str, Entry] = {}
        for key, value in items:
            if not _is(key, str):
                message = f"{place} has a key that is {_thing(key)}; keys are text"
                self._refuse(place, message, 'write the key in quotes: {"name": ...}')
                continue
            name = self._text(cast("str", key), place)
            entries[name] = Entry(self._scalar(name, place), self.node(place.make_child(value, name)))
        return Mapping(entries, place.span)

    def _part(self, part: Part, place: _Place) -> Node:
        known = _read(part)
        if known is None:
            return self._refuse(place, f"{place} contains {_thing(part)} whose fields cannot be read", _HOLDS)
        place = _Place(part, self._span(known.line) or place.span, place.above, place.key, place.depth)
        node = self._mapping(known.items, place)
        if not known.within:
            return node
        return Mapping({known.within: Entry(self._scalar(known.within, place), node)}, place.span)

    def _span(self, line: object) -> Span | None:
        return _line_span(self._source, line) if type(line) is int else None

    def _text(self, value: str, place: _Place) -> str:
        text = str.__str__(value)
        self._characters += len(text)
        if self._characters > MAX_BYTES:
            raise self._stop(place, "the workflow contains more than 1 MiB of text", "move long prompts into files")
        if SURROGATE.search(text):
            message = f"{place} contains half of a character (a lone surrogate)"
            self._refuse(place, message, "decode the text without `surrogateescape`")
            return SURROGATE.sub("\ufffd", text)
        return text

    def _number(self, value: float, place: _Place) -> float:
        if _is(value, int):
            number = int.__int__(cast("int", value))
            if abs(number) > MAX_INT:
                self._refuse(
                    place, f"{place} contains a number that is too large to be stored exactly", "write it as text"
                )
            return number
        number = float.__float__(value)
        if not isfinite(number):
            self._refuse(place, f"{place} contains {number}, which is not a finite number", None)
        return number

    def _scalar(self, value: ScalarValue, place: _Place) -> Scalar:
        return Scalar(value, place.span, "made")

    def _refuse(self, place: _Place, message: str, hint: str | None) -> Scalar:
        self.refused = True
        self._report.error("python-value", message, place.span, hint)
        return self._scalar(None, place)

    def _stop(self, place: _Place, message: str, hint: str | None = None) -> ReadingStopped:
        self._refuse(place, message, hint)
        return ReadingStopped()


@frozen(eq=False)
class _PartContent:
    """The content of a part."""

    line: object
    within: str
    items: list[tuple[object, object]]


def _read(part: Part) -> _PartContent | None:
    """Read a part's fields, positional ones first; None when a class defined by the author prevents that."""
    try:
        order = sorted((each for each in fields(part) if each.name != "line"), key=lambda each: bool(each.kw_only))
        items: list[tuple[object, object]] = []
        for each in order:
            value = getattr(part, each.name)
            if value is not None and (each.default is MISSING or value is not each.default):
                items.append((KEYS.get(each.name, each.name), value))
        if part.TYPE:
            items.insert(1, ("type", part.TYPE))
        if part.AS_MAP and len(items) > 1:
            (name, first), *others = items
            items = [(name, dict([(part.AS_MAP, first), *others]))]
        return _PartContent(part.line, str(part.WITHIN), items)
    except Exception:  # noqa: BLE001  # a property of the author's subclass may raise anything
        return None


def _line_span(source: SourceText, number: int) -> Span | None:
    """Return the span of a line without surrounding blanks, or None where the line is blank."""
    line = source.line(number)
    if not line.strip():
        return None
    start = source.offset(number, 1)
    return Span(source, start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


def _is(value: object, kinds: type | tuple[type, ...]) -> bool:
    # isinstance would ask the value's own `__class__`, which may return anything or raise.
    return issubclass(type(value), kinds)


def _type_name(value: object) -> str:
    return vars(type)["__name__"].__get__(type(value))


def _thing(value: object) -> str:
    name = _type_name(value)
    if name in _NAMES:
        return _NAMES[name]
    name = shorten(name)
    return f"an {name}" if name[:1] in "AEIOUaeiou" else f"a {name}"

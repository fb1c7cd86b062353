"""The table of filters: their arguments, results and functions. Each works on plain data, charged to the budget."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from handrail.frozen import frozen
from handrail.language.expressions import filters_data as data
from handrail.language.expressions import filters_text as text
from handrail.language.values import Budget, Kind, Value
from handrail.model.workflow.types import ANY, BOOL, INT, NUMBER, STRING, ListType, MapType, RecordType, Type
from handrail.model.workflow.types import Field as TypeField

Apply: TypeAlias = Callable[[Value, tuple[Value, ...], Budget], Value]
ResultType: TypeAlias = Callable[[Type], Type]

_SEQUENCE: frozenset[Kind] = frozenset({"list"})
_TEXT: frozenset[Kind] = frozenset({"text"})
_NUMBER: frozenset[Kind] = frozenset({"number"})
_MAP: frozenset[Kind] = frozenset({"map"})
_SIZED: frozenset[Kind] = frozenset({"text", "list", "map"})
_ANYTHING: frozenset[Kind] = frozenset({"none", "boolean", "number", "text", "list", "map"})
_NUMERIC: frozenset[Kind] = frozenset({"number", "text"})


@frozen
class Parameter:
    """One argument of a filter; without a default it is required."""

    name: str
    kinds: frozenset[Kind]
    required: bool = True
    default: Value = None


@frozen
class FilterSpec:
    """One filter."""

    accepts: frozenset[Kind]
    apply: Apply
    result: ResultType
    summary: str
    parameters: tuple[Parameter, ...] = ()


def _always(type_: Type) -> ResultType:
    return lambda _: type_


def _keep_type(type_: Type) -> Type:
    return type_


def _item(type_: Type) -> Type:
    return type_.item if isinstance(type_, ListType) else ANY


def _map_value(type_: Type) -> Type:
    return type_.value if isinstance(type_, MapType) else ANY


def _values(type_: Type) -> Type:
    return ListType(_map_value(type_))


def entry_type(type_: Type) -> Type:
    """Return the type of what iterating over a list or a map yields; a map yields `{key, value}`."""
    match type_:
        case ListType():
            return type_.item
        case MapType() | RecordType():
            return RecordType((TypeField("key", STRING), TypeField("value", _map_value(type_))))
        case _:
            return ANY


def _entries(type_: Type) -> Type:
    return ListType(entry_type(type_))


_FIELD = Parameter("attribute", _TEXT)
_MAYBE_FIELD = Parameter("attribute", _TEXT, required=False)
_REVERSE = Parameter("reverse", frozenset({"boolean"}), required=False, default=False)

FILTERS: Mapping[str, FilterSpec] = {
    "abs": FilterSpec(_NUMBER, data.absolute, _keep_type, "the number without its sign"),
    "basename": FilterSpec(_TEXT, text.basename, _always(STRING), "what follows the last `/` of a path"),
    "default": FilterSpec(
        _ANYTHING, data.default, _always(ANY), "the argument if undefined or none", (Parameter("value", _ANYTHING),)
    ),
    "ends_with": FilterSpec(
        _TEXT, text.ends_with, _always(BOOL), "whether the text ends with this", (Parameter("end", _TEXT),)
    ),
    "first": FilterSpec(_SEQUENCE, data.first, _item, "the first item; undefined if there is none"),
    "indent": FilterSpec(
        _TEXT,
        text.indent,
        _always(STRING),
        "every line but the first indented",
        (Parameter("width", _NUMBER, required=False, default=2),),
    ),
    "int": FilterSpec(_NUMERIC, data.convert_to_int, _always(INT), "a whole number; drops fractions, parses text"),
    "items": FilterSpec(_MAP, data.items, _entries, "a list of `{key, value}`"),
    "join": FilterSpec(
        _SEQUENCE,
        text.join,
        _always(STRING),
        "the items joined as one text",
        (Parameter("separator", _TEXT, required=False, default=""), _MAYBE_FIELD),
    ),
    "json": FilterSpec(
        _ANYTHING,
        text.convert_to_json,
        _always(STRING),
        "JSON text",
        (Parameter("indent", _NUMBER, required=False),),
    ),
    "keys": FilterSpec(_MAP, data.keys, _always(ListType(STRING)), "the keys of a map"),
    "last": FilterSpec(_SEQUENCE, data.last, _item, "the last item; undefined if there is none"),
    "length": FilterSpec(_SIZED, data.length, _always(INT), "how many characters, items or keys"),
    "lines": FilterSpec(_TEXT, text.lines, _always(ListType(STRING)), "the lines of a text"),
    "list": FilterSpec(_SIZED, data.convert_to_list, _entries, "a list: characters, items, or `{key, value}`"),
    "lower": FilterSpec(_TEXT, text.lower, _always(STRING), "lower case"),
    "map": FilterSpec(
        _SEQUENCE, data.pluck, _always(ListType(ANY)), "one field of every item; dots go deeper", (_FIELD,)
    ),
    "max": FilterSpec(_SEQUENCE, data.largest, _item, "the largest item; undefined if there is none", (_MAYBE_FIELD,)),
    "min": FilterSpec(
        _SEQUENCE, data.smallest, _item, "the smallest item; undefined if there is none", (_MAYBE_FIELD,)
    ),
    "number": FilterSpec(_NUMERIC, data.convert_to_number, _always(NUMBER), "a number; parses text"),
    "replace": FilterSpec(
        _TEXT,
        text.replace,
        _always(STRING),
        "every occurrence replaced; no patterns",
        (Parameter("old", _TEXT), Parameter("new", _TEXT)),
    ),
    "reverse": FilterSpec(_SEQUENCE, data.reverse, _keep_type, "the items from last to first"),
    "round": FilterSpec(
        _NUMBER,
        data.round_number,
        _always(NUMBER),
        "rounded to this many digits",
        (Parameter("digits", _NUMBER, required=False, default=0),),
    ),
    "sort": FilterSpec(
        _SEQUENCE, data.sort, _keep_type, "sorted, by a field if one is named", (_MAYBE_FIELD, _REVERSE)
    ),
    "split": FilterSpec(
        _TEXT,
        text.split,
        _always(ListType(STRING)),
        "the parts between separators; without one, between spaces",
        (Parameter("separator", _TEXT, required=False),),
    ),
    "starts_with": FilterSpec(
        _TEXT, text.starts_with, _always(BOOL), "whether the text starts with this", (Parameter("start", _TEXT),)
    ),
    "string": FilterSpec(_ANYTHING, text.convert_to_text, _always(STRING), "text, as it would appear in a prompt"),
    "sum": FilterSpec(_SEQUENCE, data.total, _always(NUMBER), "the sum, of a field if one is named", (_MAYBE_FIELD,)),
    "trim": FilterSpec(_TEXT, text.trim, _always(STRING), "without spaces at either end"),
    "truncate": FilterSpec(
        _TEXT,
        text.truncate,
        _always(STRING),
        "at most this many characters, including the end",
        (Parameter("length", _NUMBER), Parameter("end", _TEXT, required=False, default="...")),
    ),
    "unique": FilterSpec(
        _SEQUENCE, data.unique, _keep_type, "without duplicates, by a field if one is named", (_MAYBE_FIELD,)
    ),
    "upper": FilterSpec(_TEXT, text.upper, _always(STRING), "upper case"),
    "values": FilterSpec(_MAP, data.values, _values, "the values of a map"),
    "where": FilterSpec(
        _SEQUENCE,
        data.select_items,
        _keep_type,
        "the items whose field equals the value",
        (_FIELD, Parameter("value", _ANYTHING, required=False, default=True)),
    ),
    "without": FilterSpec(
        _SEQUENCE,
        data.reject_items,
        _keep_type,
        "the items whose field does not equal the value",
        (_FIELD, Parameter("value", _ANYTHING, required=False, default=True)),
    ),
}

FILE_FILTER = "file"
"""Known by name only: in a shell command `${x | file}` passes the path of a file that holds the value."""


def arrange(spec: FilterSpec, count: int, names: tuple[str, ...]) -> tuple[list[int | None], str | None]:
    """Decide which given argument fills each parameter (positional first, then named), or describe what is wrong."""
    slots: list[int | None] = [index if index < count else None for index in range(len(spec.parameters))]
    if count > len(spec.parameters):
        most = len(spec.parameters)
        return slots, f"takes {'no' if not most else f'at most {most}'} argument{'s' * (most != 1)}, {count} given"
    known = [parameter.name for parameter in spec.parameters]
    for position, name in enumerate(names):
        if name not in known:
            return slots, f"has no argument '{name}'"
        if slots[known.index(name)] is not None:
            return slots, f"gets '{name}' twice"
        slots[known.index(name)] = count + position
    for parameter, slot in zip(spec.parameters, slots, strict=True):
        if slot is None and parameter.required:
            return slots, f"needs '{parameter.name}'"
    return slots, None


def signature(name: str) -> str:
    """Show how a filter is written."""
    if name == FILE_FILTER:
        return name
    shown = [p.name if p.required else f"{p.name}?" for p in FILTERS[name].parameters]
    return f"{name}({', '.join(shown)})" if shown else name

"""Encodes plans as JSON data and back: fields at their default are omitted, unions are distinguished by `kind`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from handrail.model.history import events
from handrail.model.workflow import actions, guidance, plan, proofs, settings, types, values
from handrail.model.workflow.values import JsonValue

ALWAYS = frozenset({"kind", "format"})
"""Fields that are written whatever their value."""

PLAIN = frozenset({str, int, float, bool, NoneType})

T = TypeVar("T")
Decoder = Callable[[Any], Any]


MAX_DEPTH = 100
"""The most levels of a value from outside. A reader may be deeper in calls than the writer, so there is a margin."""
MAX_INT = 2**63 - 1


class CodecError(ValueError):
    """Stored data does not have the shape of the type it should be."""


def encode(value: object, *, hashed_only: bool = False) -> JsonValue:
    """Encode a value of the model as JSON data; `hashed_only` omits what only says where it came from."""
    kind = type(value)
    if kind in PLAIN:
        return cast("JsonValue", value)
    if isinstance(value, tuple | list):
        return [encode(item, hashed_only=hashed_only) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: encode(item, hashed_only=hashed_only) for key, item in entries.items()}
    data: dict[str, JsonValue] = {}
    for name, default, hashed in _layout(kind):
        item = getattr(value, name)
        # Compare by identity first: most fields have their default, and comparing records is slow.
        if (item is default or item == default) and name not in ALWAYS:
            continue
        if hashed or not hashed_only:
            data[name] = item if type(item) in PLAIN else encode(item, hashed_only=hashed_only)
    return data


def fields_of(record: object) -> dict[str, object]:
    """Return the fields of a record that differ from their defaults, unencoded, for an encoder that calls back."""
    names, values, defaults = _row(type(record))
    items = zip(names, values(record), defaults, strict=True)
    return {name: item for name, item, default in items if item is not default and item != default}


def decode(wanted: type[T], data: JsonValue) -> T:
    """Build a value of a model type from JSON data."""
    return cast("T", _decoder(wanted)(data))


@cache
def _layout(cls: type) -> tuple[tuple[str, object, bool], ...]:
    if not is_dataclass(cls):
        raise CodecError(f"{cls!r} is not a value of the model")
    return tuple((f.name, f.default, bool(f.metadata.get("hashed", True))) for f in fields(cls))


@cache
def _row(cls: type) -> tuple[tuple[str, ...], Callable[[object], tuple[object, ...]], tuple[object, ...]]:
    """Return the fields of a record in a form that is fast to read; what is always written equals no default."""
    names, defaults, _ = zip(*_layout(cls), strict=True)
    return names, attrgetter(*names), tuple(MISSING if n in ALWAYS else d for n, d in zip(names, defaults, strict=True))


@cache
def _decoder(wanted: Any) -> Decoder:
    origin = get_origin(wanted)
    if origin is tuple:
        return _tuple_decoder(get_args(wanted))
    if origin is Literal:
        return _literal_decoder(get_args(wanted))
    if origin in (Union, UnionType):
        return _union_decoder(get_args(wanted))
    if isinstance(wanted, type) and is_dataclass(wanted):
        return _record_decoder(wanted)
    if wanted in (str, int, float, bool, NoneType):
        return _scalar_decoder(wanted)
    return lambda data: data


def _tuple_decoder(args: tuple[Any, ...]) -> Decoder:
    def read(data: Any) -> Any:
        if not isinstance(data, list):
            raise CodecError(f"expected a list, got {data!r}")
        items = cast("list[Any]", data)
        kinds = [args[0]] * len(items) if len(args) == 2 and args[1] is Ellipsis else list(args)
        return tuple(_decoder(kind)(item) for kind, item in zip(kinds, items, strict=True))

    return read


def _literal_decoder(allowed: tuple[Any, ...]) -> Decoder:
    def read(data: Any) -> Any:
        if data not in allowed:
            raise CodecError(f"expected one of {allowed}, got {data!r}")
        return data

    return read


def _scalar_decoder(wanted: type) -> Decoder:
    accepted = (int, float) if wanted is float else wanted

    def read(data: Any) -> Any:
        if not isinstance(data, accepted) or (isinstance(data, bool) and wanted is not bool):
            raise CodecError(f"expected {wanted.__name__}, got {data!r}")
        return data

    return read


def _union_decoder(options: tuple[Any, ...]) -> Decoder:
    records = {kind: option for option in options if is_dataclass(option) for kind in _kinds(cast("type", option))}
    others = [option for option in options if not is_dataclass(option)]

    def read(data: Any) -> Any:
        if isinstance(data, dict):
            tagged = records.get(cast("dict[str, Any]", data).get("kind")) or records.get(None)
            if tagged is not None:
                return _decoder(tagged)(data)
        for option in others:
            try:
                return _decoder(option)(data)
            except CodecError:
                continue
        raise CodecError(f"no variant matches {data!r}")

    return read


def _kinds(record: type) -> tuple[str | None, ...]:
    kind = _hints(record).get("kind")
    return cast("tuple[str, ...]", get_args(kind)) if kind is not None else (None,)


def _record_decoder(wanted: type) -> Decoder:
    hints = _hints(wanted)
    required = {f.name for f in fields(wanted) if f.default is MISSING}
    # Filled by the first record that is read, because a record may contain records of its own type.
    readers: dict[str, Decoder] = {}

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise CodecError(f"expected {wanted.__name__}, got {data!r}")
        given = cast("dict[str, Any]", data)
        if not readers:
            readers.update({name: _decoder(hint) for name, hint in hints.items()})
        if not required <= given.keys() <= readers.keys():
            unknown, missing = sorted(given.keys() - hints.keys()), sorted(required - given.keys())
            raise CodecError(f"{wanted.__name__}: unknown {unknown}, missing {missing}")
        return wanted(**{name: readers[name](item) for name, item in given.items()})

    return read


@cache
def _hints(record: type) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for module in (types, values, settings, guidance, proofs, actions, plan, events):
        names.update(vars(module))
    return get_type_hints(record, localns=names)


def unrecordable(value: object, forbidden: str = "", depth: int = 0) -> str:
    """Explain why a value from outside cannot be recorded and read back everywhere; empty if it can.

    `forbidden` is a character that texts may not contain.
    """
    if isinstance(value, list | tuple | dict):
        if depth >= MAX_DEPTH:
            return f"a value that is nested more than {MAX_DEPTH} levels deep"
        inner = _parts(cast("list[object] | dict[object, object]", value))
        return next((why for each in inner if (why := unrecordable(each, forbidden, depth + 1))), "")
    return _bad_text(value, forbidden) if isinstance(value, str) else _bad_scalar(value)


def _parts(value: "list[object] | dict[object, object]") -> Iterator[object]:
    if isinstance(value, dict):
        # A key that is not a text has no equivalent in JSON.
        yield from (name if isinstance(name, str) else object() for name in value)
        yield from value.values()
    else:
        yield from value


def _bad_text(value: str, forbidden: str) -> str:
    if forbidden and forbidden in value:
        return f"the character U+{ord(forbidden):04X}"
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        return "text that is not valid Unicode"
    return ""


def _bad_scalar(value: object) -> str:
    match value:
        case None | bool():
            return ""
        case int():
            return "" if -MAX_INT - 1 <= value <= MAX_INT else "a whole number of more than 64 bits"
        case float():
            return "" if isfinite(value) else "a number that is not finite"
        case _:
            return f"a value or a key that JSON cannot represent ({type(value).__name__})"

"""Samples that represent all values of a type: enough of them that each comparison with a constant goes each way."""

from collections.abc import Iterator
from itertools import islice, product
from typing import cast

from handrail.engine.simulation.deciding_values import ITEMS, Path
from handrail.model.workflow.types import (
    ANY,
    NUMBER_KINDS,
    TEXT_KINDS,
    AnyType,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    ScalarType,
    SchemaType,
    Type,
)
from handrail.model.workflow.values import JsonValue

MAX_COMBINATIONS = 300
MAX_LIST_LENGTH = 13
_ABSENT = object()


class FieldReads:
    """What is read of a value, as a tree of fields; `decides` if the value itself is compared with something."""

    __slots__ = ("constants", "decides", "empty", "fields", "passed")

    def __init__(self) -> None:
        self.fields: dict[str, FieldReads] = {}
        self.constants: list[object] = []
        self.decides = False
        self.passed = False
        self.empty = False

    def add(self, path: Path) -> "FieldReads":
        """Record that a path is read, and return its node."""
        here = self
        for part in path:
            here = here.fields.setdefault(part, FieldReads())
        return here

    @property
    def is_compared(self) -> bool:
        """Whether anything in it is compared with something, not only passed on."""
        return self.decides or any(each.is_compared for each in self.fields.values())

    @property
    def matters(self) -> bool:
        """Whether anything in it decides."""
        return self.decides or self.passed or any(each.matters for each in self.fields.values())


def samples(type_: Type, asked: FieldReads, mark: str = "") -> list[JsonValue]:
    """Build values of a type that differ in everything that is asked about them; the first is the plainest."""
    if isinstance(type_, AnyType | SchemaType):
        return _unknown(asked, mark)
    match type_:
        case RecordType():
            return _records(type_.fields, asked, mark)
        case ListType():
            return _lists(type_.item, asked, mark)
        case MapType():
            inner = asked.fields or {"key": FieldReads()}
            made = _records(tuple(Field(name, type_.value) for name in inner), asked, mark)
            return [*made, {}] if asked.decides else made
        case ChoiceType():
            return list(type_.values) if asked.decides or asked.passed else [type_.values[0]]
        case ScalarType():
            return _scalars(type_, asked, mark)


def _scalars(type_: ScalarType, asked: FieldReads, mark: str) -> list[JsonValue]:
    if type_.kind == "null":
        return [None]
    if type_.kind == "bool":
        return [True, False] if asked.decides or asked.passed else [True]
    if type_.kind in NUMBER_KINDS:
        return _numbers(asked) if asked.decides else [1]
    plain: list[JsonValue] = [f"text{mark}"] if type_.kind in TEXT_KINDS else [1]
    return [*plain, *_texts(asked)] if asked.decides else plain


def _numbers(asked: FieldReads) -> list[JsonValue]:
    found: set[float] = {0, 1}
    for each in asked.constants:
        if isinstance(each, int | float) and not isinstance(each, bool):
            found |= {each - 1, each, each + 1}
    return [each for each in sorted(found) if each >= 0 or min(found) < -1]


def _texts(asked: FieldReads) -> list[JsonValue]:
    words = [each for each in asked.constants if isinstance(each, str)]
    digits = [str(each) for each in _numbers(asked) if any(not isinstance(one, str) for one in asked.constants)]
    joined = [" ".join(dict.fromkeys(words))] if len(words) > 1 else []
    return cast("list[JsonValue]", list(dict.fromkeys([*words, *joined, "", *digits])))


def _unknown(asked: FieldReads, mark: str) -> list[JsonValue]:
    """Build samples of a value of unknown type, with the shape that is asked about."""
    if ITEMS in asked.fields or asked.empty:
        return _lists(ANY, asked, mark)
    if asked.fields:
        return _records(tuple(Field(name, ANY) for name in asked.fields), asked, mark)
    if not asked.decides:
        return [f"text{mark}"]
    lists: list[JsonValue] = [[], ["item-1"], *([each] for each in asked.constants if isinstance(each, str))]
    return [f"text{mark}", *_texts(asked), *_numbers(asked), True, False, None, *lists]


def _lists(item: Type, asked: FieldReads, mark: str) -> list[JsonValue]:
    inner = asked.fields.get(ITEMS, FieldReads())
    if asked.empty:
        return [[]]
    if not asked.decides and not inner.matters:
        return [[samples(item, inner, f"{mark}-1")[0]]]
    one = samples(item, inner, f"{mark}-1")
    made: list[JsonValue] = [[each] for each in one[:8]]
    made += [
        [samples(item, inner, f"{mark}-{number}")[0] for number in range(1, length + 1)] for length in _lengths(asked)
    ]
    if isinstance(item, ScalarType | AnyType):
        words: list[JsonValue] = [[each] for each in asked.constants if isinstance(each, str)]
        made += words
    return made


def _lengths(asked: FieldReads) -> list[int]:
    numbers = [each for each in asked.constants if isinstance(each, int) and not isinstance(each, bool)]
    around = {each + more for each in numbers for more in (-1, 0, 1)}
    return sorted({0, 2, *(each for each in around if 2 < each <= MAX_LIST_LENGTH)})


def _records(fields: tuple[Field, ...], asked: FieldReads, mark: str) -> list[JsonValue]:
    choices = [_field(each, asked, mark) for each in fields]
    names = [each.name for each in fields]
    return [
        {name: cast("JsonValue", value) for name, value in zip(names, chosen, strict=True) if value is not _ABSENT}
        for chosen in _combine(choices)
    ]


def _field(field: Field, asked: FieldReads, mark: str) -> list[object]:
    inner = asked.fields.get(field.name) or asked.fields.get(field.name.replace("-", "_")) or FieldReads()
    found: list[object] = list(samples(field.type, inner, mark))
    return [*found, _ABSENT] if field.optional and (inner.matters or field.name in asked.fields) else found


def _combine(choices: list[list[object]]) -> Iterator[tuple[object, ...]]:
    """Yield all combinations if they are few, else each choice beside the first ones of the others."""
    total = 1
    for each in choices:
        total *= len(each)
    if total <= MAX_COMBINATIONS:
        yield from product(*choices)
        return
    base = [each[0] for each in choices]
    yield tuple(base)
    for place, each in enumerate(choices):
        for value in islice(each, 1, None):
            yield (*base[:place], value, *base[place + 1 :])

"""What is known about values before there are any: kinds of types, how types meet, what a condition should say."""

from handrail.language.values import Kind
from handrail.model.types import (
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


def kind_of_type(type_: Type) -> Kind | None:
    """Give the kind that every value of a type has, or None where that is not known."""
    match type_:
        case AnyType() | SchemaType():
            return None
        case ChoiceType():
            return "text"
        case ListType():
            return "list"
        case MapType() | RecordType():
            return "map"
        case ScalarType(kind):
            return _scalar_kind(kind)


def _scalar_kind(kind: str) -> Kind:
    if kind in TEXT_KINDS:
        return "text"
    if kind in NUMBER_KINDS:
        return "number"
    return "boolean" if kind == "bool" else "none"


def join_types(types: list[Type]) -> Type:
    """Give the type of a value that has one of several types."""
    if not types or any(type_ != types[0] for type_ in types):
        return ANY
    return types[0]


def find_field(record: RecordType, name: str) -> Field | None:
    """Find a field as an expression names it: `-` in its name is written `_`."""
    found = record.field(name)
    if found is not None or "_" not in name:
        return found
    known = next((known for known in record.names() if known.replace("-", "_") == name), name)
    return record.field(known)


def condition_hint(text: str, type_: Type) -> str:
    """Say how a condition about a value of a type is written."""
    match type_:
        case ChoiceType(values) if values:
            return f"write `{text} == '{values[-1]}'`"
        case ListType() | MapType():
            return f"write `{text} | length > 0`"
        case ScalarType(kind) if kind in NUMBER_KINDS:
            return f"write `{text} > 0`"
        case ScalarType(kind) if kind in TEXT_KINDS:
            return f"write `{text} == '...'` or `{text} is not empty`"
        case _:
            return f"write `{text} is defined`"

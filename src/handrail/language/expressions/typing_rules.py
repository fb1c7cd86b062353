"""Rules about values before they exist: kinds of types, how types are joined, what a condition should look like."""

from handrail.language.values import Kind
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
    describe,
)

SPOKEN_FLAGS = {"yes": "write true", "on": "write true", "no": "write false", "off": "write false"}
"""Hints for words that older YAML reads as true or false."""


def kind_of_type(type_: Type) -> Kind | None:
    """Return the kind that every value of a type has, or None if that is not known."""
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
    """Return the type of a value that has one of several types."""
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


def field_hint(record: RecordType, name: str, owner: str) -> str:
    """List the existing fields, or explain that the field is one level down, in the step's result."""
    output = record.field("output")
    if output is not None and isinstance(output.type, RecordType) and find_field(output.type, name) is not None:
        return f"it is a field of the result: write `{owner}.output.{name}`"
    known = [each.replace("-", "_") for each in record.names()]
    return f"the fields are {', '.join(known)}" if known else "it has no fields"


def condition_hint(text: str, type_: Type) -> str:
    """Suggest how a condition about a value of a type is written."""
    match type_:
        case ChoiceType(values) if values:
            return f"write `{text} == '{values[-1]}'`"
        case ListType() | MapType():
            return f"write `{text} | length > 0`"
        case ScalarType(kind) if kind in NUMBER_KINDS:
            return f"write `{text} > 0`"
        case ScalarType(kind) if kind in TEXT_KINDS:
            return f"write `{text} == '...'` or `{text} is not empty`"
        case RecordType() if type_.field("status") is not None:
            return f"write `{text}.status == 'succeeded'`"
        case _:
            return f"write `{text} is defined`"


def a_kind(type_: Type) -> str:
    """Describe a value of a type: `a number`, `one of low, high`."""
    kind = kind_of_type(type_)
    if isinstance(type_, ChoiceType):
        return f"one of {', '.join(type_.values)}"
    return kind or describe(type_) if kind in (None, "none") else f"a {kind}"

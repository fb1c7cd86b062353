"""Types of values, as authors declare them (`input`, `returns`) and as checks know them."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen

ScalarKind: TypeAlias = Literal["string", "int", "number", "bool", "path", "slug", "glob", "null"]

TEXT_KINDS: frozenset[str] = frozenset({"string", "path", "slug", "glob"})
NUMBER_KINDS: frozenset[str] = frozenset({"int", "number"})


@frozen
class AnyType:
    """Nothing is known about the value."""

    kind: Literal["any"] = "any"


@frozen
class ScalarType:
    """Text, a number, a boolean, or null."""

    kind: ScalarKind


@frozen
class ChoiceType:
    """One of a few texts."""

    values: tuple[str, ...]
    kind: Literal["choice"] = "choice"


@frozen
class ListType:
    """A list of one type."""

    item: "Type"
    kind: Literal["list"] = "list"


@frozen
class MapType:
    """Names that are not known beforehand, with values of one type."""

    value: "Type"
    kind: Literal["map"] = "map"


@frozen
class Field:
    """One field of a record."""

    name: str
    type: "Type"
    optional: bool = False


@frozen
class RecordType:
    """Known fields; an open record may have others, about which nothing is known."""

    fields: tuple[Field, ...]
    open: bool = False
    kind: Literal["record"] = "record"

    def field(self, name: str) -> Field | None:
        """Find a field."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        return None

    def names(self) -> tuple[str, ...]:
        """List the fields' names."""
        return tuple(field.name for field in self.fields)


class GrowingRecord(RecordType):
    """A record that gains fields while a workflow is checked from top to bottom, with fast lookup."""

    __slots__ = ("table",)

    table: dict[str, Field]

    def __init__(self) -> None:
        super().__init__(())
        object.__setattr__(self, "table", {})

    def field(self, name: str) -> Field | None:
        """Find a field."""
        return self.table.get(name)

    def names(self) -> tuple[str, ...]:
        """List the fields' names."""
        return tuple(self.table)


@frozen
class SchemaType:
    """A JSON Schema of the author's own, stored as its canonical JSON text."""

    schema: str
    kind: Literal["schema"] = "schema"


Type: TypeAlias = AnyType | ScalarType | ChoiceType | ListType | MapType | RecordType | SchemaType

ANY = AnyType()
STRING = ScalarType("string")
INT = ScalarType("int")
NUMBER = ScalarType("number")
BOOL = ScalarType("bool")
NULL = ScalarType("null")


def describe(type_: Type) -> str:
    """Describe a type in the syntax of the format."""
    match type_:
        case ScalarType() | AnyType():
            return type_.kind
        case ChoiceType():
            return " | ".join(type_.values)
        case ListType():
            return f"list of {describe(type_.item)}"
        case MapType():
            return f"map of {describe(type_.value)}"
        case RecordType():
            return "record {" + ", ".join(type_.names()) + "}"
        case SchemaType():
            return "json"

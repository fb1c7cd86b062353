"""The syntax tree of an expression: frozen nodes, which are compared without their positions."""

from dataclasses import field
from typing import Literal as Word
from typing import TypeAlias

from handrail.frozen import frozen

UnaryOperator: TypeAlias = Word["-", "+", "not"]
BinaryOperator: TypeAlias = Word["+", "-", "*", "/", "//", "%", "~"]
CompareOperator: TypeAlias = Word["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
LogicOperator: TypeAlias = Word["and", "or"]

TESTS: frozenset[str] = frozenset(
    {"defined", "undefined", "none", "string", "number", "boolean", "list", "map", "empty"}
)
"""What may follow `is` and `is not`."""


@frozen(eq=False)
class Literal:
    """Text, a number, a boolean or none, as written."""

    value: str | int | float | bool | None
    start: int = 0
    end: int = 0

    # In Python 1 == 1.0 == True; in this language they are three different literals.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@frozen
class Name:
    """A variable."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Attribute:
    """A field of a map: `subject.name`."""

    subject: "Expression"
    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Item:
    """An item of a list or a map: `subject[index]`."""

    subject: "Expression"
    index: "Expression"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class ListDisplay:
    """A list, as written."""

    items: tuple["Expression", ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class MapDisplay:
    """A map, as written; keys are texts."""

    entries: tuple[tuple[str, "Expression"], ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Unary:
    """`-x`, `+x` or `not x`."""

    operator: UnaryOperator
    operand: "Expression"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Binary:
    """Arithmetic on numbers, or `~` which joins texts."""

    operator: BinaryOperator
    left: "Expression"
    right: "Expression"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Compare:
    """One comparison; they do not chain."""

    operator: CompareOperator
    left: "Expression"
    right: "Expression"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Logic:
    """Two or more conditions joined by the same word."""

    operator: LogicOperator
    operands: tuple["Expression", ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Conditional:
    """`then if condition else otherwise`."""

    then: "Expression"
    condition: "Expression"
    otherwise: "Expression"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@frozen
class Filter:
    """`subject | name(arguments)`."""

    subject: "Expression"
    name: str
    arguments: tuple["Expression", ...] = ()
    named: tuple[tuple[str, "Expression"], ...] = ()
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    name_start: int = field(default=0, compare=False)


@frozen
class Test:
    """`subject is name` or `subject is not name`."""

    subject: "Expression"
    name: str
    negated: bool = False
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Expression: TypeAlias = (
    Literal
    | Name
    | Attribute
    | Item
    | ListDisplay
    | MapDisplay
    | Unary
    | Binary
    | Compare
    | Logic
    | Conditional
    | Filter
    | Test
)


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct children of a node, from left to right."""
    match expression:
        case Attribute(subject) | Test(subject):
            return (subject,)
        case Item(subject, index):
            return (subject, index)
        case Binary(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Filter(subject, _, arguments, named):
            return (subject, *arguments, *(value for _, value in named))
        case _:
            return _parts(expression)


def _parts(
    expression: Literal | Name | Unary | ListDisplay | MapDisplay | Logic | Conditional,
) -> tuple[Expression, ...]:
    match expression:
        case Literal() | Name():
            return ()
        case Unary(_, operand):
            return (operand,)
        case ListDisplay(parts) | Logic(_, parts):
            return parts
        case MapDisplay(entries):
            return tuple(value for _, value in entries)
        case Conditional(then, condition, otherwise):
            return (then, condition, otherwise)

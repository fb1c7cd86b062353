"""Values in a plan: constants, expressions, texts with placeholders, conditions, prompts and shell commands.

Expressions are stored as their canonical text; `handrail.language` parses it again where it is evaluated.
"""

from dataclasses import field
from typing import Literal, TypeAlias

from handrail.frozen import frozen

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

NOT_HASHED = {"hashed": False}
"""Metadata of a field that says where something came from and is not part of what it means."""


@frozen
class Constant:
    """Plain data."""

    value: JsonValue
    kind: Literal["constant"] = "constant"


@frozen
class Expression:
    """An expression of the language, in canonical text."""

    source: str
    kind: Literal["expression"] = "expression"


@frozen
class TextWithHoles:
    """Text in which expressions are rendered."""

    parts: tuple["str | Expression", ...]
    kind: Literal["text"] = "text"


@frozen
class ListOfValues:
    """A list with something to evaluate in it."""

    items: tuple["Value", ...]
    kind: Literal["list"] = "list"


@frozen
class NamedValue:
    """A name with its value."""

    name: str
    value: "Value"


@frozen
class MapOfValues:
    """A map with something to evaluate in it."""

    entries: tuple[NamedValue, ...]
    kind: Literal["map"] = "map"


Value: TypeAlias = Constant | Expression | TextWithHoles | ListOfValues | MapOfValues


@frozen
class BareHole:
    """A placeholder of a prompt whose value needs no marks: it is the workflow's own, or one of a few words."""

    number: int
    """Its position among the placeholders of the prompt, as they are written, from 0."""
    words: tuple[str, ...] = ()
    """The only values without marks; empty if every value is the workflow's own."""


@frozen
class Prompt:
    """The prompt of an agent, and where its text came from."""

    text: str
    syntax: Literal["template", "plain", "workrail"] = "template"
    file: str | None = field(default=None, metadata=NOT_HASHED)
    version: str | None = field(default=None, metadata=NOT_HASHED)
    description: str | None = field(default=None, metadata=NOT_HASHED)
    bare: tuple[BareHole, ...] = ()
    """Values of all other placeholders may come from an issue, an agent or a command, and are put inside marks."""


@frozen
class ShellBinding:
    """A value that a command reads from an environment variable, or from the file whose path the variable holds."""

    variable: str
    value: Expression
    as_file: bool = False


@frozen
class Command:
    """A shell script in which values are environment variables, never shell text."""

    script: str
    bindings: tuple[ShellBinding, ...] = ()


# WorkRail's conditions are nodes of their own, with lenient comparison and flat names.


@frozen
class Compare:
    """One variable of the context against one operator; without an operator its truthiness."""

    var: str
    operator: str
    """`truthy`, or one of equals not_equals gt gte lt lte contains startsWith endsWith matches in."""
    operand: JsonValue = None
    kind: Literal["compare"] = "compare"


@frozen
class AllOf:
    """True if every part is."""

    parts: tuple["ContextCondition", ...]
    kind: Literal["all_of"] = "all_of"


@frozen
class AnyOf:
    """True if some part is."""

    parts: tuple["ContextCondition", ...]
    kind: Literal["any_of"] = "any_of"


@frozen
class Negation:
    """True if its part is not."""

    part: "ContextCondition"
    kind: Literal["negation"] = "negation"


@frozen
class Always:
    """An empty condition: true on its own, false inside another."""

    kind: Literal["always"] = "always"


ContextCondition: TypeAlias = Compare | AllOf | AnyOf | Negation | Always
Condition: TypeAlias = Expression | Compare | AllOf | AnyOf | Negation | Always

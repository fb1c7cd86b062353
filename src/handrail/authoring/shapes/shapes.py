"""Shapes: what a value of a workflow file may be, as data.

A format is needed in three places: the compiler checks files against it, editors complete and check files as they are
written, and the documentation describes it. Written three times, the three would drift apart. So a format is one value,
a tree of the classes below, and everything else is derived from it: `conform` checks a positioned tree, `json_schema`
exports a JSON Schema, and tests compare the documentation with it.

A shape looks at one value and never at its surroundings; it knows nothing about names, expressions or files. That is
why it can be exported, and why checking it is one walk over the tree. What depends on other places (an unknown step, a
prompt that is missing) is found later, by the compiler.

Each value is of one of six kinds, and no check ever has to try alternatives:

- `Either` chooses by the kind of the value alone: a text is the short form, a map the long form.
- `Tagged` chooses a record by its tag, or else by the first key in it that implies one.

So the shape that was meant is always known, and a message names the one thing that is wrong with it instead of listing
the ways in which a value matches none of many. `slips`, `hints` and `words` improve these messages: they map what
people write who know other systems to what they should write here. `Ref` delays the lookup of a shape, so that steps
may contain steps.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from handrail.frozen import frozen

Kind: TypeAlias = Literal["text", "number", "flag", "nothing", "list", "map"]


@frozen
class Text:
    """Text with limits on its length and a pattern, either of which may be absent."""

    what: str = "text"
    least: int = 0
    most: int | None = None
    pattern: str | None = None
    example: str | None = None


@frozen
class Choice:
    """One of a few words; `also` lists other spellings that older files use, and `placeholder` allows a `${...}`."""

    values: tuple[str, ...]
    also: tuple[str, ...] = ()
    placeholder: bool = False


@frozen
class Flag:
    """True or false; `placeholder` allows a `${...}` instead."""

    placeholder: bool = False


@frozen
class Number:
    """A number within limits; `placeholder` allows a `${...}` instead."""

    least: float | None = None
    most: float | None = None
    whole: bool = False
    placeholder: bool = False


@frozen
class Nothing:
    """An empty value."""


@frozen
class Anything:
    """Any value."""


@frozen
class ListOf:
    """A list of items of one shape."""

    item: "Shape"
    least: int = 0
    most: int | None = None
    unique: bool = False


@frozen
class MapOf:
    """A map with names of the author's choice and values of one shape."""

    value: "Shape"
    key_pattern: str | None = None
    least: int = 0
    key_what: str = "name"


@frozen
class Key:
    """One key of a record: its shape, whether it is required, and what it means."""

    shape: "Shape"
    doc: str
    required: bool = False
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """What to write where a value of a kind does not fit; VALUE and NAME stand for what was written."""
    aliases: tuple[str, ...] = ()
    """Other words that are accepted for the key, with advice to write its own."""


@dataclass(frozen=True)
class Record:
    """A map of known keys, each with its shape."""

    what: str
    keys: dict[str, Key]
    one_of: tuple[tuple[str, ...], ...] = ()
    """Groups of keys, of which exactly one must be present."""
    at_most_one: tuple[tuple[str, ...], ...] = ()
    hints: dict[str, str] = field(default_factory=dict[str, str])
    """The hints for keys of other systems or of earlier drafts."""
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """The correction to suggest where the value is not a map, as for a key."""

    @cached_property
    def mandatory_keys(self) -> tuple[str, ...]:
        """The names of the keys that must be present."""
        return tuple(name for name, key in self.keys.items() if key.required)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Other words for its keys, each with the key that is meant."""
        return {alias: name for name, key in self.keys.items() for alias in key.aliases}


@frozen
class Either:
    """Different shapes for different kinds of value, distinguished by the kind alone."""

    what: str
    forms: dict[Kind, "Shape"]


@frozen
class Ref:
    """A shape by name, so that shapes can be recursive."""

    name: str
    shape: Callable[[], "Shape"]


@frozen
class Tagged:
    """A map that is one of several records, as its keys decide."""

    name: str
    tag: str
    records: dict[str, Record]
    implied: dict[str, str]
    """Keys that decide when the tag is missing, in order of precedence."""
    otherwise: str | None = None
    """The tag to assume when nothing decides."""
    words: dict[str, str] = field(default_factory=dict[str, str])
    """Tags of other systems, each with the tag to use instead."""
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """The correction to suggest where the value is not a map, as for a key."""


Shape: TypeAlias = Text | Choice | Flag | Number | Nothing | Anything | ListOf | MapOf | Record | Either | Ref | Tagged

PLACEHOLDER = re.compile(r"\$\{.+\}\Z", re.DOTALL)
"""A text that consists of one `${...}`."""

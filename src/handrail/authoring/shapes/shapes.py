"""Shapes: what a value of a workflow file may be, as data.

A shape is used three ways: to check a positioned tree (`conform`), to print a JSON Schema (`json_schema`), and to
hold the documentation to the format. A shape knows nothing of names, expressions or files.
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
    """Text; `placeholder` texts such as `${x}` are always allowed where a shape says so."""

    what: str = "text"
    least: int = 0
    most: int | None = None
    pattern: str | None = None
    example: str | None = None


@frozen
class Choice:
    """One of a few words; `also` are other spellings that old files use."""

    values: tuple[str, ...]
    also: tuple[str, ...] = ()
    placeholder: bool = False


@frozen
class Flag:
    """True or false."""

    placeholder: bool = False


@frozen
class Number:
    """A number within bounds."""

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
    """Items of one shape."""

    item: "Shape"
    least: int = 0
    most: int | None = None
    unique: bool = False


@frozen
class MapOf:
    """Names of the author's choosing, with values of one shape."""

    value: "Shape"
    key_pattern: str | None = None
    least: int = 0
    key_what: str = "name"


@frozen
class Key:
    """One key of a record: its shape, whether it must stand there, and what it means."""

    shape: "Shape"
    doc: str
    required: bool = False
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """What to write where a value of a kind does not fit; VALUE and NAME stand for what was written."""
    aliases: tuple[str, ...] = ()
    """Other words that are accepted for the key, with advice to write its own."""


@dataclass(frozen=True)
class Record:
    """Known keys, each with its shape."""

    what: str
    keys: dict[str, Key]
    one_of: tuple[tuple[str, ...], ...] = ()
    """Groups of which exactly one key must stand there."""
    at_most_one: tuple[tuple[str, ...], ...] = ()
    hints: dict[str, str] = field(default_factory=dict[str, str])
    """What to say when a key of another system, or of an earlier draft, is used."""
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """What to write where something else than a map stands, as for a key."""

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Names of the keys that must stand there."""
        return tuple(name for name, key in self.keys.items() if key.required)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Other words for its keys, each with the key that is meant."""
        return {alias: name for name, key in self.keys.items() for alias in key.aliases}


@frozen
class Either:
    """Different shapes for different kinds of value, told apart by the kind alone."""

    what: str
    forms: dict[Kind, "Shape"]


@frozen
class Ref:
    """A shape by name, so that shapes can hold themselves."""

    name: str
    shape: Callable[[], "Shape"]


@frozen
class Tagged:
    """A record whose keys decide which record it is."""

    name: str
    tag: str
    records: dict[str, Record]
    implied: dict[str, str]
    """Keys that decide when the tag is left out, in order of precedence."""
    otherwise: str | None = None
    """The tag when nothing decides."""
    words: dict[str, str] = field(default_factory=dict[str, str])
    """Tags of other systems, each with the tag that is meant."""
    slips: dict[Kind, str] = field(default_factory=dict["Kind", str])
    """What to write where something else than a map stands, as for a key."""


Shape: TypeAlias = Text | Choice | Flag | Number | Nothing | Anything | ListOf | MapOf | Record | Either | Ref | Tagged

PLACEHOLDER = re.compile(r"\$\{.+\}\Z", re.DOTALL)
"""A text that is one `${...}` and nothing else."""

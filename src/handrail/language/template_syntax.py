"""The parts of a template."""

from dataclasses import dataclass
from typing import TypeAlias

from handrail.language.syntax import Expression


@dataclass(frozen=True, slots=True)
class Text:
    """Text as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """`{{ expression }}`."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Branch:
    """One condition of an `{% if %}` with what follows it."""

    condition: Expression
    body: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class If:
    """`{% if %}`, any number of `{% elif %}`, perhaps `{% else %}`."""

    branches: tuple[Branch, ...]
    otherwise: tuple["Part", ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """`{% for name in source %}`, perhaps with `{% else %}` for an empty source."""

    name: str
    source: Expression
    body: tuple["Part", ...]
    otherwise: tuple["Part", ...] = ()


Part: TypeAlias = Text | Output | If | For


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template."""

    parts: tuple[Part, ...]

"""The parts of a template."""

from typing import TypeAlias

from handrail.frozen import frozen
from handrail.language.expressions.syntax import Expression


@frozen
class Text:
    """Text as it is."""

    text: str


@frozen
class Output:
    """`{{ expression }}`."""

    expression: Expression
    number: int = 0
    """Its position among the outputs of the template, as they are written, from 0."""


@frozen
class Branch:
    """One condition of an `{% if %}` with what follows it."""

    condition: Expression
    body: tuple["Part", ...]


@frozen
class If:
    """`{% if %}`, any number of `{% elif %}`, optionally `{% else %}`."""

    branches: tuple[Branch, ...]
    otherwise: tuple["Part", ...] = ()


@frozen
class For:
    """`{% for name in source %}`, optionally with `{% else %}` for an empty source."""

    name: str
    source: Expression
    body: tuple["Part", ...]
    otherwise: tuple["Part", ...] = ()


Part: TypeAlias = Text | Output | If | For


@frozen
class Template:
    """A parsed template."""

    parts: tuple[Part, ...]

"""What compiling a shell command gives, and the words it is judged by."""

from dataclasses import dataclass, field

from handrail.frozen import frozen
from handrail.language.expressions.syntax import Expression
from handrail.language.problems import Problem

HOLE = "\0"
"""Stands in a word's text for a value of ours."""


@frozen
class Binding:
    """An environment variable that carries a value; `as_file` asks for the path of a file that holds it."""

    variable: str
    expr: Expression
    as_file: bool = False


@frozen
class CompiledCommand:
    """A script in which no value is text, and the variables it needs."""

    script: str
    bindings: tuple[Binding, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


@frozen
class Mark:
    """Where a value of ours stands in the command."""

    source: str
    start: int
    end: int


@dataclass(slots=True)
class Word:
    """One word of a command: its text without quotes, with a hole for each value of ours."""

    start: int
    text: str = ""
    marks: list[Mark] = field(default_factory=list[Mark])
    quoted: bool = False


@dataclass(slots=True)
class Command:
    """One simple command; `stdin` holds the values in its here-documents and in what is piped into it."""

    words: list[Word] = field(default_factory=list[Word])
    stdin: list[Mark] = field(default_factory=list[Mark])
    fed: bool = False

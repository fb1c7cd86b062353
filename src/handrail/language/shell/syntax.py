"""The result of compiling a shell command, the words it is judged by, and where the shell's own brackets end."""

import re
from dataclasses import dataclass, field

from handrail.frozen import frozen
from handrail.language.expressions.syntax import Expression
from handrail.language.problems import Problem

HOLE = "\0"
"""Stands in a word's text for a value of Handrail's."""


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
class ValueMark:
    """The place of a value of Handrail's in the command."""

    source: str
    start: int
    end: int


@dataclass(slots=True)
class Word:
    """One word of a command: its text without quotes, with a placeholder for each value of Handrail's."""

    start: int
    text: str = ""
    marks: list[ValueMark] = field(default_factory=list[ValueMark])
    quoted: bool = False


@dataclass(slots=True)
class Command:
    """One simple command; `stdin` holds the values in its here-documents and in what is piped into it."""

    words: list[Word] = field(default_factory=list[Word])
    stdin: list[ValueMark] = field(default_factory=list[ValueMark])
    fed: bool = False


def close_brace(text: str, at: int) -> int:
    """Return the offset after the `}` that closes a parameter expansion, or -1."""
    depth = 1
    for match in re.compile(r"\\.|'[^'}]*'|\$?\{|\}", re.DOTALL).finditer(text, at):
        if match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif match[0] == "${":
            depth += 1
    return -1


def close_arithmetic(text: str, at: int) -> int:
    """Return the offset of the `))` that closes an arithmetic expression, or -1."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, at):
        if match[0] == "(":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return match.start() if text.startswith("))", match.start()) else -1
    return -1


def close_bracket(text: str, at: int) -> int:
    """Return the offset after the `]` that closes a subscript, or the end of the line."""
    depth = 0
    for match in re.compile(r"[\[\]\n]").finditer(text, at):
        depth += {"[": 1, "]": -1, "\n": -1000}[match[0]]
        if depth <= 0:
            return match.end() if match[0] == "]" else match.start()
    return len(text)

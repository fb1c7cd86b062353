"""Parses Go's template actions, the text between `{{` and `}}`, to a small tree; nothing is ever executed."""

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from handrail.frozen import frozen

MAX_LENGTH = 4000
MAX_DEPTH = 24


class Untranslatable(Exception):
    """Something that the format cannot express; its text describes it."""


@frozen
class Reference:
    """`.a.b` (start is empty), `$.a.b` (start is `$`) or `$x.a` (start is `$x`)."""

    start: str
    path: tuple[str, ...]


@frozen
class Constant:
    """A text, a number, true, false or nil."""

    value: str | int | float | bool | None


@frozen
class Call:
    """A function call with its arguments."""

    name: str
    arguments: tuple["GoValue", ...]


GoValue: TypeAlias = Reference | Constant | Call


class _Token(NamedTuple):
    kind: str
    text: str


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
      | (?P<number>[-+]?\d+(?:\.\d+)?(?![\w.]))
      | (?P<path>(?:\$\w*)?(?:\.[A-Za-z_][\w-]*)+|\$\w*|\.(?!\w))
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>:=|[()|,=])""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "nil": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Action(NamedTuple):
    """One `{{ ... }}` of a text; the trim marks tell on which side whitespace is removed."""

    start: int
    end: int
    inside: str
    trims_left: bool
    trims_right: bool


def actions(text: str) -> Iterator[Action]:
    """Find the actions of a text in a single pass."""
    at = 0
    while (start := text.find("{{", at)) >= 0 and (close := text.find("}}", start + 2)) >= 0:
        inside = text[start + 2 : close]
        left, right = inside[:1] == "-" and inside[1:2].isspace(), inside[-1:] == "-" and inside[-2:-1].isspace()
        core = inside[1 if left else 0 : len(inside) - 1 if right else None]
        at = close + 2
        yield Action(start, at, core.strip(), left, right)


def parse_action(text: str) -> GoValue:
    """Parse a pipeline such as `.items | join ", "`."""
    tokens = _tokens(text)
    value, rest = _pipeline(tokens, 0, 0)
    if rest != len(tokens):
        raise Untranslatable(f"unexpected `{tokens[rest].text}`")
    return value


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_LENGTH:
        raise Untranslatable(f"it is longer than {MAX_LENGTH} characters")
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Untranslatable(f"unexpected `{text[at]}`")
        at = match.end()
        if match.lastgroup != "space":
            found.append(_Token(match.lastgroup or "", match[0]))
    return found


def _pipeline(tokens: list[_Token], at: int, depth: int) -> tuple[GoValue, int]:
    if depth > MAX_DEPTH:
        raise Untranslatable(f"it nests deeper than {MAX_DEPTH} levels")
    value, at = _command(tokens, at, depth, None)
    while at < len(tokens) and tokens[at] == ("sign", "|"):
        value, at = _command(tokens, at + 1, depth, value)
    return value, at


def _command(tokens: list[_Token], at: int, depth: int, piped: GoValue | None) -> tuple[GoValue, int]:
    name = tokens[at].text if at < len(tokens) and tokens[at].kind == "word" else None
    if name in _WORDS:
        name = None
    at += 1 if name else 0
    operands: list[GoValue] = []
    while at < len(tokens) and (tokens[at].kind != "sign" or tokens[at].text == "("):
        operand, at = _operand(tokens, at, depth)
        operands.append(operand)
    if piped is not None:
        operands.append(piped)
    if name:
        return Call(name, tuple(operands)), at
    if len(operands) != 1:
        raise Untranslatable("a value with arguments cannot be called" if operands else "a value is missing")
    return operands[0], at


def _operand(tokens: list[_Token], at: int, depth: int) -> tuple[GoValue, int]:
    kind, text = tokens[at]
    match kind:
        case "text":
            return Constant(_unquote(text)), at + 1
        case "number":
            return Constant(float(text) if "." in text else int(text)), at + 1
        case "path":
            start, *path = text.split(".")
            return Reference(start, tuple(name for name in path if name)), at + 1
        case "word":
            return (Constant(_WORDS[text]) if text in _WORDS else Call(text, ())), at + 1
        case _:
            value, at = _pipeline(tokens, at + 1, depth + 1)
            if at >= len(tokens) or tokens[at].text != ")":
                raise Untranslatable("a `)` is missing")
            return value, at + 1


def _unquote(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])

"""Splits text into tokens: one regular expression, exact offsets."""

import re
from typing import NamedTuple, NoReturn

from handrail.language.problems import LanguageError, Problem

REFUSED_OPERATORS: dict[str, tuple[str, str | None]] = {
    "**": ("`**` is not supported", "powers are not supported; multiply with `*`"),
    ":=": ("`:=` is not supported", "an expression cannot assign; use a step's `output`"),
    "=": ("`=` is not a comparison", "write `==`"),
    "&&": ("`&&` is not supported", "write `and`"),
    "||": ("`||` is not supported", "write `or`"),
    "&": ("`&` is not supported", "write `and`"),
    "!": ("`!` is not supported", "write `not`"),
    "?": ("`? :` is not supported", "write `value if condition else other`"),
    ";": ("an expression cannot contain several statements", None),
    "lambda": ("`lambda` is not supported", None),
    "for": ("comprehensions are not supported", "use `| map('field')` or `| where('field', value)`"),
}
"""Operators and keywords of other languages, each with a message and what to write instead."""
MAX_LENGTH = 10_000
"""The most characters of one expression."""
MAX_INT = 2**53
KEYWORDS = {
    word: word for word in ["and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "lambda", "for"]
} | {
    "True": "true",
    "False": "false",
    "None": "none",
    "null": "none",
}
"""Words with a meaning of their own, and the kind of token they become."""


class Token(NamedTuple):
    """A token of the language; operators and keywords are their own kind."""

    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""([ \t\r\n]*)(
      [A-Za-z_][A-Za-z0-9_]*
    | \d+(?:\.\d+)?(?:[eE][+-]?\d+)?\w*
    | "(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'
    | //|\*\*|==|!=|<=|>=|:=|&&|\|\||[-+*/%~<>()\[\]{},:.|=!?&;]
    | \Z
    | .
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_FLOAT = re.compile(r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", re.ASCII)
_OPERATORS = [
    "//",
    "**",
    "==",
    "!=",
    "<=",
    ">=",
    ":=",
    "&&",
    "||",
    "-",
    "+",
    "*",
    "/",
    "%",
    "~",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "=",
    "!",
    "?",
    "&",
    ";",
]
_KINDS = KEYWORDS | {operator: operator for operator in _OPERATORS} | {"": "end"}


def fail(message: str, start: int, end: int, hint: str | None = None, code: str = "expression-syntax") -> NoReturn:
    """Refuse the text."""
    raise LanguageError(Problem(code, message, start, end, hint))


def tokens(text: str, offset: int = 0) -> list[Token]:
    """Split an expression into tokens; the last one has the kind `end`."""
    if len(text) > MAX_LENGTH:
        message = f"the expression has {len(text)} characters, the maximum is {MAX_LENGTH}"
        fail(message, offset, offset + len(text), "split it over several steps", "expression-too-large")
    found: list[Token] = []
    known = _KINDS.get
    start = offset
    for space, word in _TOKEN.findall(text):
        start += len(space)
        end = start + len(word)
        kind = known(word) or _kind(word) or _stray(word, start, text[start - offset :])
        found.append(Token(kind, word, start, end))
        start = end
    return found


def _kind(word: str) -> str | None:
    first = word[0]
    if first.isidentifier():
        return "name" if first.isascii() else None
    if first in "'\"":
        return "string" if len(word) > 1 else None
    if word.isdigit() and word.isascii():
        return "int"
    return "float" if _FLOAT.fullmatch(word) else None


def _stray(word: str, start: int, rest: str) -> NoReturn:
    if word in "'\"":
        fail("the text is never closed", start, start + len(rest), f"add a closing {word}")
    if word[0].isdigit() and word.isascii():
        hint = "a name cannot start with a digit; a `-` in a step's name is written `_`"
        fail(f"`{word}` is neither a number nor a name", start, start + len(word), hint)
    hints = {"$": "write only the name, without `$`", **dict.fromkeys("`‘’“”«»", "put text in ' or \"")}
    shown = word if word.isprintable() else f"character U+{ord(word):04X}"
    fail(f"unexpected `{shown}`", start, start + 1, hints.get(word))


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": ""}


def unquote(token: Token) -> str:
    """Return the text that a string token stands for."""
    body = token.text[1:-1]
    if "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        escape = match[1]
        if escape in _SIMPLE:
            return _SIMPLE[escape]
        start = token.start + 1 + match.start()
        number = int(escape[1:], 16) if len(escape) > 1 else -1
        if number < 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            fail(f"unknown escape `{match[0]}`", start, start + len(match[0]), "a backslash itself is written `\\\\`")
        return chr(number)

    return _ESCAPE.sub(replace, body)

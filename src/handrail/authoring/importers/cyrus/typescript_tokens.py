"""Splits TypeScript into tokens, as far as declarations of plain data need it; limited in size, nothing is executed."""

import re
from typing import NamedTuple

MAX_BYTES = 256 * 1024

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>//[^\n]*|/\*(?:.*?\*/|.*))
      | (?P<text>'[^'\\\n]*(?:\\.[^'\\\n]*)*'|"[^"\\\n]*(?:\\.[^"\\\n]*)*")
      | (?P<template>`[^`\\]*(?:\\.[^`\\]*)*`)
      | (?P<number>\d[\d_]{0,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?(?![\w.]))
      | (?P<word>[A-Za-z_$][\w$]*)
      | (?P<sign>\.\.\.|=>|===|!==|\?\?|\?\.|&&|\|\||[-+*/%!=<>?:;,.(){}\[\]|&@^~])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)


class UnsupportedSyntax(Exception):
    """Something that is not plain data, with its offset `at`."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class Token(NamedTuple):
    """A token with its position."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Split a text into tokens, without whitespace and comments; the last token has the kind `end`."""
    if len(text) > MAX_BYTES:
        raise UnsupportedSyntax(f"the file is larger than {MAX_BYTES // 1024} KB", 0)
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UnsupportedSyntax(f"unexpected `{text[at]}`", at)
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            found.append(Token(kind, match[0], at, match.end()))
        at = match.end()
    found.append(Token("end", "", at, at))
    return found


def unquote(token: Token) -> str:
    """Return the text that a string literal denotes."""
    return _ESCAPE.sub(_escape, token.text[1:-1])


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        number = int(code.strip("ux{}"), 16)
        return chr(number) if number < 0xD800 or 0xDFFF < number < 0x110000 else "\ufffd"
    return _ESCAPES.get(code, code)

"""Takes the prose out of files: what people read, without the names in code."""

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(r"(?:[\w.:/-]*\w)?")
_EXPRESSION = re.compile(r"\{[^{}]*\}")
_QUOTED_NAME = re.compile(r"`[\w.:/-]+`")
_AROUND = re.compile(r"""^[A-Za-z]{0,2}("{3}|'{3}|"|')|("{3}|'{3}|"|')$""")
_BETWEEN = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class Passage:
    """A text without a gap, and the line in which it begins."""

    line: int
    text: str


def read_passages(path: str, text: str) -> Iterator[Passage]:
    """Read the comments and strings of a Python file, the whole of any other; names in backticks are left out."""
    found = _python_passages(text) if path.endswith(".py") else iter((Passage(1, text),))
    for each in found:
        yield Passage(each.line, _QUOTED_NAME.sub(lambda name: "-" * len(name[0]), each.text))


def _python_passages(text: str) -> Iterator[Passage]:
    """Join comments of neighbouring lines, and strings that Python joins; a string of one word is a name."""
    kind, line, parts = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _BETWEEN:
            continue
        if token.type != kind or kind not in (tokenize.STRING, tokenize.COMMENT):
            yield from _joined(kind, line, parts)
            kind, line, parts = token.type, token.start[0], []
        # Lines between the parts are part of the passage, so that a hit is reported in its own line.
        reached = line + sum(part.count("\n") for part in parts)
        parts.append("\n" * (token.start[0] - reached) + _bare(token))
    yield from _joined(kind, line, parts)


def _bare(token: tokenize.TokenInfo) -> str:
    """Take away what makes a token a comment or a string, and the code in an f-string."""
    if token.type == tokenize.COMMENT:
        return token.string.lstrip("# ")
    start = _AROUND.match(token.string)
    text = _AROUND.sub("", token.string)
    return _EXPRESSION.sub(_blank, text) if start and "f" in start[0].lower() else text


def _blank(found: re.Match[str]) -> str:
    return "-" + "\n" * found[0].count("\n")


def _joined(kind: int, line: int, parts: list[str]) -> Iterator[Passage]:
    text = "".join(parts)
    if kind == tokenize.COMMENT or (kind == tokenize.STRING and not _NAME.fullmatch(text)):
        yield Passage(line, text)

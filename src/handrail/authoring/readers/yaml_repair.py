"""Corrected text for hints: the value at a position, and lines with their placeholders quoted."""

import re

from handrail.authoring.readers.limits import quote
from handrail.model.source import SourceText

MAX_LINE_LENGTH = 200
"""Longer lines are not repeated in a hint."""

_TOKEN = re.compile(
    r"""
      "(?:[^"\\\n]|\\.)*" | '[^'\n]*'                  # what is quoted already
    | [ \t]\#.*                                        # a comment
    | (?P<plain>
        (?: \$\{[^}\n]*\} | :(?=[^\s,\[\]{}]) | [^\s,\[\]{}"':] )
        (?: \$\{[^}\n]*\} | :(?=[^\s,\[\]{}]) | [^\s,\[\]{}:] | [ \t]+(?=[^\s,\[\]{}\#]) )*
      )
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(r"[ \t]+#.*")
_IN_FLOW = re.compile(r"[,\]}]")
_CONDITION = re.compile(r"(?:^|[\s{,])(when|while|until|exit_when|warn_when|expect):[ \t]+$")
_KEYED = re.compile(r"(\s*(?:- +)*[^\s:#\"'\[{][^:]*:\s+)(\S.*)$")


def quote_placeholders(line: str) -> str:
    """Return a line with quotes around every unquoted text that contains a `${...}`, without its comment."""
    return _TOKEN.sub(_quote_token, line).strip()


def value_at(source: SourceText, start: int) -> str:
    """Return the unquoted value probably meant at an offset: up to a comment, and up to a `,` in a list."""
    position = source.position(start)
    line = source.line(position.line)
    before, rest = line[: position.column - 1], line[position.column - 1 :][:MAX_LINE_LENGTH]
    rest = _COMMENT.sub("", rest).strip()
    if before.count("[") > before.count("]") or before.count("{") > before.count("}"):
        rest = _IN_FLOW.split(rest, maxsplit=1)[0].strip()
    return rest


def negation(source: SourceText, start: int) -> str | None:
    """Return `key: not x` for a condition whose value begins with a `!`, or None where there is no condition."""
    position = source.position(start)
    key = _CONDITION.search(source.line(position.line)[: position.column - 1][-MAX_LINE_LENGTH:])
    value = value_at(source, start).removeprefix("!").strip()
    if key is None or not value or value[0] in "!<":
        return None
    return f"{key[1]}: not {value}"


def quote_value(line: str) -> str | None:
    """Return a `key: value` line with the whole value in quotes, or None if it is not such a line."""
    found = _KEYED.match(_COMMENT.sub("", line)) if len(line) <= MAX_LINE_LENGTH else None
    if found is None:
        return None
    return found[1].strip() + " " + quote(found[2].strip())


def _quote_token(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] in " \t":
        return ""
    return quote(token) if found["plain"] and "${" in token else token

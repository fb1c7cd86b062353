"""Parses JSON with comments and trailing commas, as editors write it, with the position of each member."""

import json
import re
from typing import cast

from handrail.frozen import frozen

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


@frozen
class Member:
    """One member of an object: its key, and the positions of key and value."""

    key: str
    start: int
    value: int
    end: int


def blank_comments(text: str) -> str:
    """Replace comments and trailing commas with spaces: plain JSON of the same length."""
    plain = _STRING_OR_COMMENT.sub(lambda found: _blank(found, "/"), text)
    return _LAST_COMMA.sub(lambda found: _blank(found, ","), plain)


def _blank(found: "re.Match[str]", begins: str) -> str:
    words = found[0]
    return re.sub(r"[^\r\n]", " ", words) if words.startswith(begins) else words


def read_jsonc(text: str) -> object:
    """Parse a text; raise ValueError if it is not JSON."""
    return json.loads(blank_comments(text))


def members(plain: str, brace: int) -> list[Member]:
    """List the members of the object whose brace is at a position in plain JSON."""
    found: list[Member] = []
    at = _skip(plain, brace + 1)
    while plain[at] != "}":
        if found:
            at = _skip(plain, at + 1)
        key, after = cast("tuple[str, int]", _DECODER.raw_decode(plain, at))
        value = _skip(plain, _skip(plain, after) + 1)
        end = _DECODER.raw_decode(plain, value)[1]
        found.append(Member(key, at, value, end))
        at = _skip(plain, end)
    return found


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()

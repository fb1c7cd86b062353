"""Writes plain data as readable YAML: block style, literal blocks, quotes wherever a parser could misread a value.

The invariant: `read_yaml(emit_workflow(data))` returns the same data, with this reader and with YAML 1.1 parsers.
"""

import json
import re
from collections.abc import Iterator

from handrail.authoring.readers.limits import SURROGATE
from handrail.model.workflow.values import JsonValue

_PLAIN = re.compile(r"[A-Za-z0-9_$/.(\u00c0-\u1fff\u3040-\ud7ff][^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]*")
_MISREAD = re.compile(
    r"true|false|yes|no|on|off|y|n|null|none|~"
    r"|[-+]?[0-9][0-9_,.:]*(?:e[-+]?[0-9]*)?|[-+]?\.[0-9_.]*(?:e[-+]?[0-9]*)?|0[xob][0-9a-f_]*"
    r"|[-+]?\.(?:inf|nan)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|\.\.\..*",
    re.IGNORECASE | re.DOTALL,
)
_NEEDS_QUOTES = re.compile(r":(?:\s|$)|\s#|\s$|^\s")
_BLOCK = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]*")
_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)
_SPACED = frozenset({"steps"})
"""Lists whose items are separated by an empty line."""


def emit_workflow(data: dict[str, JsonValue]) -> str:
    """Write a workflow, with its parts separated by empty lines."""
    parts: list[str] = []
    for key, value in data.items():
        block = "\n".join(_entry(key, value, 0))
        parts.append(("\n" if parts and isinstance(value, dict | list) else "") + block)
    return "\n".join(parts) + "\n"


def _lines(data: dict[str, JsonValue] | list[JsonValue], indent: int, *, spaced: bool) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _entry(key, value, indent)
        return
    for position, item in enumerate(data):
        if spaced and position and isinstance(item, dict):
            yield ""
        yield from _item(item, indent)


def _entry(key: str, value: JsonValue, indent: int) -> Iterator[str]:
    start = " " * indent + _key(key) + ":"
    if isinstance(value, dict | list) and value:
        yield start
        yield from _lines(value, indent + 2, spaced=key in _SPACED)
        return
    yield f"{start} {_leaf(value, indent + 2)}"


def _item(item: JsonValue, indent: int) -> Iterator[str]:
    dash = " " * indent + "- "
    if not isinstance(item, dict | list) or not item:
        yield dash + _leaf(item, indent + 2)
        return
    inner = list(_lines(item, indent + 2, spaced=False))
    yield dash + inner[0][indent + 2 :]
    yield from inner[1:]


def _key(key: str) -> str:
    text = SURROGATE.sub("\ufffd", key)
    return text if _is_plain(text) else _quote(text)


def _leaf(value: JsonValue, indent: int) -> str:
    match value:
        case str():
            return _text(SURROGATE.sub("\ufffd", value), indent)
        case dict():
            return "{}"
        case list():
            return "[]"
        case float():
            return repr(value)
        case _:
            return json.dumps(value)


def _text(text: str, indent: int) -> str:
    if "\n" in text and _can_be_block(text):
        margin = " " * indent
        body = text.removesuffix("\n")
        lines = "\n".join(margin + line if line else "" for line in body.split("\n"))
        return ("|" if text.endswith("\n") else "|-") + "\n" + lines
    return text if _is_plain(text) else _quote(text)


def _can_be_block(text: str) -> bool:
    # An empty or indented first line would need an indentation indicator, and several trailing line breaks `|+`.
    return (
        text[0] not in " \t\n"
        and not text.endswith("\n\n")
        and _BLOCK.fullmatch(text) is not None
        and _BLANK_LINE.search(text) is None
    )


def _is_plain(text: str) -> bool:
    return (
        _PLAIN.fullmatch(text) is not None and _NEEDS_QUOTES.search(text) is None and _MISREAD.fullmatch(text) is None
    )


def _quote(text: str) -> str:
    if ('"' in text or "\\" in text) and text.isprintable() and text.isascii():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char.isprintable():
        return char
    number = ord(char)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"

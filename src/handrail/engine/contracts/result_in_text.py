"""Finds the result that an agent wrote into its last message, where it has no other way to return one."""

import json
import re
from collections.abc import Iterator

from handrail.engine.contracts.fit_type import Fit, check_type
from handrail.engine.text.plain_json import read_plain, refuse_constant, require_plain
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import JsonValue

MAX_LENGTH = 1 << 20
"""The number of characters, counted from the end, that are searched."""
MAX_WORK = 16 << 20
"""The number of characters that are parsed in search of a start, so that no text takes long."""
_FENCE = "```"
_OPENING = re.compile(r"[{\[]")


def find_result(text: str, type_: Type | None = None) -> JsonValue:
    """Find JSON in a text: all of it, its last fenced block, or its last map or list; preferably of the given type."""
    first: JsonValue = None
    for number, value in enumerate(_candidates(text[-MAX_LENGTH:])):
        if type_ is None or isinstance(check_type(type_, value), Fit):
            return value
        first = value if number == 0 else first
    return first


def _candidates(text: str) -> Iterator[JsonValue]:
    """Yield possible results, the likeliest first."""
    blocks = _find_fenced_blocks(text)
    marked = [body for language, body in reversed(blocks) if language == "json"]
    others = [body for language, body in reversed(blocks) if language != "json"]
    for body in (text, *marked, *others):
        try:
            yield read_plain(body.strip())
        except ValueError:
            continue
    yield from reversed(_find_embedded_json(text))


def _find_fenced_blocks(text: str) -> list[tuple[str, str]]:
    """List the fenced blocks of a text, each with its language."""
    found: list[tuple[str, str]] = []
    inside: list[str] | None = None
    language = ""
    for line in text.split("\n"):
        bare = line.strip()
        if inside is None and bare.startswith(_FENCE):
            inside, language = [], bare.strip("`").strip().lower()
        elif inside is not None and bare == _FENCE:
            found.append((language, "\n".join(inside)))
            inside = None
        elif inside is not None:
            inside.append(line)
    return found


def _find_embedded_json(text: str) -> list[JsonValue]:
    """List the outermost maps and lists in a text; empty if the search takes too long."""
    found: list[JsonValue] = []
    decoder = json.JSONDecoder(parse_constant=refuse_constant)
    at = work = 0
    while (opening := _OPENING.search(text, at)) is not None:
        begin = opening.start()
        try:
            value, at = decoder.raw_decode(text, begin)
            require_plain(value)
            found.append(value)
        except json.JSONDecodeError as error:
            at, work = begin + 1, work + error.pos - begin
        except (ValueError, RecursionError):
            at, work = begin + 1, work + len(text) - begin
        if work > MAX_WORK:
            return []
    return found

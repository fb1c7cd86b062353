"""Limits what may be sent as context: plain JSON, limited in size and depth, without reserved names."""

import json
from collections.abc import Mapping

from handrail.model.workflow.values import JsonValue

MAX_BYTES = 262_144
MAX_DEPTH = 64
RESERVED = frozenset({"__proto__", "constructor", "prototype"})


def context_problem(now: Mapping[str, JsonValue], changes: Mapping[str, JsonValue]) -> str:
    """Explain why changes cannot be merged into a context; empty if they can."""
    reserved = sorted(RESERVED & changes.keys())
    if reserved:
        return f"'{reserved[0]}' is a reserved name and cannot be set in the context"
    if any(_is_too_deep(value) for value in changes.values()):
        return f"the context is nested deeper than {MAX_DEPTH} levels"
    merged = {name: value for name, value in {**dict(now.items()), **changes}.items() if value is not None}
    try:
        size = len(
            json.dumps(merged, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(errors="replace")
        )
    except ValueError:
        return "the context contains a number that JSON cannot represent"
    return f"the context would have {size} bytes, the maximum is {MAX_BYTES}" if size > MAX_BYTES else ""


def _is_too_deep(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    # The context itself is the first level.
    for _ in range(MAX_DEPTH):
        level = [inner for each in level for inner in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []

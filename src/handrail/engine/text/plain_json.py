"""Reads JSON that a command or an agent wrote, and refuses what later steps could not read."""

import json
import math
from typing import NoReturn

from handrail.model.workflow.values import JsonValue

MAX_DEPTH = 100
"""The most levels of lists and maps in a value."""


def read_plain(text: str) -> JsonValue:
    """Parse a JSON text; raises a ValueError that says what is wrong with it."""
    try:
        value: JsonValue = json.loads(text, parse_constant=refuse_constant)
    except RecursionError as error:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels") from error
    require_plain(value)
    return value


def refuse_constant(word: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python accepts and JSON does not allow."""
    raise ValueError(f"{word} is not a valid JSON number")


def require_plain(value: JsonValue, depth: int = 0) -> None:
    """Refuse lone surrogates, numbers that are not finite, and values that are nested too deeply."""
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("it contains a number that is too large")
    elif isinstance(value, list):
        for item in value:
            require_plain(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode()
            require_plain(item, depth + 1)

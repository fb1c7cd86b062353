"""Limits texts to a number of bytes: a text is cut at a whole character, and marked as cut."""

import json

from handrail.model.workflow.values import JsonValue

CUT = " […]"
DOTS = "…"
"""The mark of a cut inside a list."""
MAX_SHORTFALLS = 10
"""The most shortfalls of a step that are reported at once."""
MAX_MESSAGE = 512
MAX_FIX = 1024
MAX_SENT = 2048
"""The most bytes of what was sent when it is shown again."""


def cut(text: str, most: int, mark: str = CUT) -> str:
    """Cut a text to a number of bytes of UTF-8, including the mark of the cut."""
    data = text.encode(errors="replace")
    if len(data) <= most:
        return data.decode()
    return data[: max(most - len(mark.encode()), 0)].decode(errors="ignore") + mark


def cut_value(value: JsonValue, most: int = MAX_SENT) -> JsonValue:
    """Return a value as it is or, if it is too large, the beginning of its JSON as a text."""
    if isinstance(value, str):
        return cut(value, most)
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text.encode(errors="replace")) <= most else cut(text, most)

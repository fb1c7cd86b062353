"""Keeps what is told within its bytes: a text is cut at a whole character, and says that it was cut."""

import json

from handrail.model.workflow.values import JsonValue

CUT = " […]"
DOTS = "…"
"""The mark where a few words stand in a list."""
MOST_SHORTFALLS = 10
"""Things that are told at once to stand in the way of a step."""
MOST_MESSAGE = 512
MOST_FIX = 1024
MOST_SENT = 2048
"""Bytes of what was sent, where it is shown again."""


def cut(text: str, most: int, mark: str = CUT) -> str:
    """Cut a text to so many bytes of UTF-8, the mark of the cut included."""
    data = text.encode(errors="replace")
    if len(data) <= most:
        return data.decode()
    return data[: max(most - len(mark.encode()), 0)].decode(errors="ignore") + mark


def cut_value(value: JsonValue, most: int = MOST_SENT) -> JsonValue:
    """Give a value as it is, or, where it is too large, the beginning of it as a text."""
    if isinstance(value, str):
        return cut(value, most)
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text.encode(errors="replace")) <= most else cut(text, most)

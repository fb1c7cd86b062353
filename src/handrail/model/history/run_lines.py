"""The line of a run in lists, as it is kept: without what is as it mostly is, since every step writes it anew.

Commands that only show the list start without the rest of the model.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail.model.workflow.values import JsonValue

USUAL: "dict[str, JsonValue]" = {
    "reason": None,
    "message": "",
    "next_step": "",
    "current_step": None,
    "progress": None,
    "completed_at": None,
    "until": None,
    "quota": False,
    "error": None,
    "cost": 0.0,
    "unpriced": 0,
    "held_by": "",
    "parent": None,
}


def whole(line: "Mapping[str, JsonValue]") -> "dict[str, JsonValue]":
    """Give a line with what was left out of it."""
    return {**USUAL, **line}

"""Which streams of a log are runs, and the line of a run in lists.

A line is kept without what is as it mostly is, since every step writes it anew. Commands that only show the list start
without the rest of the model.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from handrail.model.workflow.values import JsonValue

PREFIX_END = ":"
"""Ends the prefix of a stream that is no run: `issue:`, `schedule:`. The id of a run never contains it."""

UNREADABLE = "unreadable"
"""Set in the line of a run that cannot be read."""

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
    "imported": False,
}


def is_run(stream: str) -> bool:
    """Tell whether a stream of the log is a run, by its name."""
    return bool(stream) and PREFIX_END not in stream


def root_of(run: str) -> str:
    """Give the run that a person started."""
    return re.sub(r"(\.[0-9]+)+$", "", run)


def whole(line: "Mapping[str, JsonValue]") -> "dict[str, JsonValue]":
    """Give a line with what was left out of it."""
    return {**USUAL, **line}


_TEXT, _NUMBER, _MAP = (str, type(None)), (int, float, type(None)), (dict, type(None))
_TYPES: "dict[str, tuple[type, ...]]" = {
    **dict.fromkeys(
        ("run", "workflow", "hash", "plan", "workspace", "status", "reason", "message", "next_step"), _TEXT
    ),
    **dict.fromkeys(("current_step", "error", "held_by", "parent", "said", "goal", "recap"), _TEXT),
    **dict.fromkeys(("started_at", "completed_at", "until", "active_at", "cost", "unpriced", "gaps"), _NUMBER),
    **dict.fromkeys(("input", "progress", "observed", "admission"), _MAP),
}
_TIMES = ("started_at", "completed_at", "until", "active_at")
_MOST_TIME = 1e11
"""Seconds since 1970 of which a time of day can be given."""


def read_line(run: str, text: "bytes | Mapping[str, JsonValue]") -> "Mapping[str, JsonValue]":
    """Read a line as it is kept; one that nobody can read becomes one that says so, and spoils no other."""
    try:
        line: Any = json.loads(text) if isinstance(text, bytes) else text
    except (ValueError, RecursionError) as error:
        return _spoilt(run, str(error))
    wrong = _misfit(line)
    return _spoilt(run, wrong) if wrong else line


def _misfit(line: Any) -> str:
    if not isinstance(line, dict):
        return "it is no object"
    given = cast("dict[str, Any]", line)
    for name, types in _TYPES.items():
        if name in given and type(given[name]) not in types:
            return f"'{name}' has no fitting value"
    if any(not 0 <= (given.get(name) or 0) < _MOST_TIME for name in _TIMES):
        return "a time in it cannot be"
    progress = given.get("progress")
    return "" if progress is None or progress.keys() >= {"address", "what", "number"} else "'progress' lacks something"


def _spoilt(run: str, why: str) -> "dict[str, JsonValue]":
    return {
        "run": run,
        "workflow": run.rpartition("-")[0] or run,
        "status": "blocked",
        "reason": "fault",
        "message": f"its line in lists cannot be read: {why}",
        "next_step": f"handrail doctor {run} --repair",
        "started_at": 0.0,
        UNREADABLE: True,
    }

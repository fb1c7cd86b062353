"""Which streams of a log are runs, the line of a run in lists, and which lines are wanted.

A line is kept without what is as it mostly is, since every step writes it anew. Commands that only show the list start
without the rest of the model.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

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


Order: TypeAlias = Literal["changed", "started", "made"]
"""Changed last first; started last first; or as the streams came into being."""


class Facts(NamedTuple):
    """What never or hardly ever changes of a run, kept beside its line so that lists need not read every line."""

    workflow: str | None = None
    repository: str | None = None
    parent: str | None = None
    root: str | None = None
    """The run that a person started; its own name where that is this one."""
    started: float = 0.0
    """When it came into being here."""


class Row(NamedTuple):
    """The summary of a stream, and the position of the last event that changed it."""

    key: str
    position: int
    document: "Mapping[str, JsonValue]"
    facts: Facts = Facts()


class Filter(NamedTuple):
    """Which summaries to give; without anything those of all runs, the ones that changed last first."""

    prefix: str = ""
    """How the key begins."""
    status: str | None = None
    limit: int | None = None
    runs_only: bool = True
    """Leave out the streams that are no runs (`is_run`)."""
    key: str | None = None
    """The whole key."""
    statuses: tuple[str, ...] = ()
    """One of these."""
    workflow: str | None = None
    repositories: tuple[str, ...] = ()
    """One of these."""
    parent: str | None = None
    root: str | None = None
    top: bool = False
    """Only runs that no other run started."""
    inner: bool = False
    """Only runs that another run started."""
    before: tuple[float, str] | None = None
    """Those that come after this start and key in the order by start: the next page."""
    order: Order = "changed"
    holding: tuple[str, ...] = ()
    """Names of which the line holds one."""


def is_run(stream: str) -> bool:
    """Tell whether a stream of the log is a run, by its name."""
    return bool(stream) and PREFIX_END not in stream


def whole(line: "Mapping[str, JsonValue]") -> "dict[str, JsonValue]":
    """Give a line with what was left out of it."""
    return {**USUAL, **line}


_TEXT, _NUMBER, _MAP = (str, type(None)), (int, float, type(None)), (dict, type(None))
_TYPES: "dict[str, tuple[type, ...]]" = {
    **dict.fromkeys(
        ("run", "workflow", "hash", "plan", "workspace", "status", "reason", "message", "next_step"), _TEXT
    ),
    **dict.fromkeys(
        ("current_step", "error", "held_by", "parent", "root", "repository", "said", "goal", "recap", "about"), _TEXT
    ),
    **dict.fromkeys(("started_at", "born", "completed_at", "until", "active_at", "cost", "unpriced", "gaps"), _NUMBER),
    **dict.fromkeys(("input", "progress", "observed", "admission"), _MAP),
}
_TIMES = ("started_at", "born", "completed_at", "until", "active_at")
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


def facts_of(key: str, document: "Mapping[str, JsonValue]") -> Facts:
    """Read off a summary what is kept beside it."""
    workflow, repository = document.get("workflow"), document.get("repository")
    parent, root = document.get("parent"), document.get("root")
    started = document.get("born") or document.get("started_at")
    return Facts(
        workflow if isinstance(workflow, str) else None,
        repository if isinstance(repository, str) else None,
        parent if isinstance(parent, str) else None,
        root if isinstance(root, str) else key,
        float(started) if isinstance(started, int | float) and abs(started) < float("inf") else 0.0,
    )

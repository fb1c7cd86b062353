"""Which streams of a log are runs, the entry of a run in lists, and the filter for entries.

An entry is stored without default values, since every step writes it again. Commands that only show the list start
without the rest of the model.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    from handrail.model.workflow.values import JsonValue

PREFIX_END = ":"
"""Ends the prefix of a stream that is not a run: `issue:`, `schedule:`. The id of a run never contains it."""

UNREADABLE = "unreadable"
"""Set in the entry of a run that cannot be read."""

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
"""Most recently changed first; most recently started first; or in the order in which the streams were created."""


class Facts(NamedTuple):
    """What rarely or never changes about a run, stored beside its entry so that lists need not read every entry."""

    workflow: str | None = None
    repository: str | None = None
    parent: str | None = None
    root: str | None = None
    """The run that a person started; its own name if that is this one."""
    started: float = 0.0
    """When it was created here."""


class Row(NamedTuple):
    """The summary of a stream, and the position of the last event that changed it."""

    key: str
    position: int
    document: "Mapping[str, JsonValue]"
    facts: Facts = Facts()


class Filter(NamedTuple):
    """Which summaries to return; by default those of all runs, the most recently changed first."""

    prefix: str = ""
    """How the key begins."""
    status: str | None = None
    limit: int | None = None
    runs_only: bool = True
    """Leave out the streams that are not runs (`is_run`)."""
    key: str | None = None
    """The whole key."""
    statuses: tuple[str, ...] = ()
    """One of these."""
    workflow: str | None = None
    repositories: tuple[str, ...] = ()
    """One of these."""
    parent: str | None = None
    root: str | None = None
    roots: tuple[str, ...] = ()
    """One of these."""
    top: bool = False
    """Only runs that no other run started."""
    inner: bool = False
    """Only runs that another run started."""
    before: tuple[float, str] | None = None
    """Those that come after this start and key in the order by start: the next page."""
    order: Order = "changed"
    holding: tuple[str, ...] = ()
    """Names of which the entry contains at least one."""


def is_run(stream: str) -> bool:
    """Whether a stream of the log is a run, by its name."""
    return bool(stream) and PREFIX_END not in stream


def is_updated_by(line: "Mapping[str, JsonValue]", root: str) -> bool:
    """Whether the entry of a pull request that another run opened says that a run updated it."""
    others = line.get("others")
    return isinstance(others, list) and root in others


def fill_defaults(line: "Mapping[str, JsonValue]") -> "dict[str, JsonValue]":
    """Return an entry with its default values filled in."""
    return {**USUAL, **line}


_TEXT, _NUMBER, _MAP = (str, type(None)), (int, float, type(None)), (dict, type(None))
_TYPES: "dict[str, tuple[type, ...]]" = {
    **dict.fromkeys(
        ("run", "workflow", "hash", "plan", "workspace", "status", "reason", "message", "next_step"), _TEXT
    ),
    **dict.fromkeys(
        (
            "current_step",
            "error",
            "held_by",
            "parent",
            "root",
            "repository",
            "said",
            "goal",
            "recap",
            "about",
            "on_issue",
        ),
        _TEXT,
    ),
    **dict.fromkeys(("started_at", "born", "completed_at", "until", "active_at", "cost", "unpriced", "gaps"), _NUMBER),
    **dict.fromkeys(("input", "progress", "observed", "admission"), _MAP),
}
_TIMES = ("started_at", "born", "completed_at", "until", "active_at")
_MAX_TIME = 1e11
"""The largest time, in seconds since 1970, that can be shown as a date."""


def read_line(run: str, text: "bytes | Mapping[str, JsonValue]") -> "Mapping[str, JsonValue]":
    """Read a stored entry; an unreadable one is replaced by one that says so, and does not affect others."""
    try:
        line: Any = json.loads(text) if isinstance(text, bytes) else text
    except (ValueError, RecursionError) as error:
        return _spoilt(run, str(error))
    wrong = _misfit(line)
    return _spoilt(run, wrong) if wrong else line


def _misfit(line: Any) -> str:
    if not isinstance(line, dict):
        return "it is not an object"
    given = cast("dict[str, Any]", line)
    for name, types in _TYPES.items():
        if name in given and type(given[name]) not in types:
            return f"the value of '{name}' is not valid"
    if any(not 0 <= (given.get(name) or 0) < _MAX_TIME for name in _TIMES):
        return "a time in it is not valid"
    progress = given.get("progress")
    return "" if progress is None or progress.keys() >= {"address", "what", "number"} else "'progress' is incomplete"


def _spoilt(run: str, why: str) -> "dict[str, JsonValue]":
    return {
        "run": run,
        "workflow": run.rpartition("-")[0] or run,
        "status": "blocked",
        "reason": "fault",
        "message": f"its entry in the run list cannot be read: {why}",
        "next_step": f"handrail doctor {run} --repair",
        "started_at": 0.0,
        UNREADABLE: True,
    }


def facts_of(key: str, document: "Mapping[str, JsonValue]") -> Facts:
    """Extract from a summary what is stored beside it."""
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

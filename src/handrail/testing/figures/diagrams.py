"""Renders the engine's own tables: the events, which may follow in which status, and how statuses change."""

from dataclasses import MISSING, Field, fields
from typing import Any, cast, get_args

from handrail.engine.state.transitions import ALLOWED
from handrail.model.history.events import Event

LEADS_TO: dict[str, tuple[str, ...]] = {
    "run_started": ("running", "queued"),
    "run_forked": ("running", "waiting", "blocked", "succeeded", "failed", "cancelled"),
    "step_began": ("running",),
    "step_ended": ("running",),
    "retry_scheduled": ("waiting",),
    "timer_fired": ("running",),
    "approval_requested": ("waiting",),
    "approval_decided": ("running",),
    "run_waits": ("waiting",),
    "run_blocked": ("blocked",),
    "run_queued": ("queued",),
    "run_admitted": ("running",),
    "run_resumed": ("running", "waiting"),
    "run_rewound": ("running",),
    "run_ended": ("succeeded", "failed", "cancelled"),
}
"""The statuses that an event can lead to; any event not listed leaves the status unchanged."""

ENDS: dict[str, tuple[str, ...]] = {
    "queued": ("failed", "cancelled"),
    "running": ("succeeded", "failed", "cancelled"),
    "waiting": ("failed", "cancelled"),
}
"""How a run can end from each status; from the others only a person ends it, by stopping it."""


def events() -> tuple[type[Any], ...]:
    """List the types of all events, in the order of the union."""
    return cast("tuple[type[Any], ...]", get_args(Event))


def kind_of(event: type[Any]) -> str:
    """Return the kind under which an event is stored."""
    return str(next(each.default for each in fields(event) if each.name == "kind"))


def event_table() -> str:
    """Render all events as a Markdown table, with optional fields in brackets."""
    rows = [f"| `{kind_of(each)}` | {_sentence(each)} | {_list_fields(each)} |" for each in events()]
    return "\n".join(["| event | what happened | what it carries |", "|---|---|---|", *rows])


def _sentence(event: type[Any]) -> str:
    return (event.__doc__ or "").strip().partition("\n")[0]


def _list_fields(event: type[Any]) -> str:
    shown = [_name(each) for each in fields(event) if each.name not in ("kind", "at")]
    return ", ".join(shown) or "only its time"


def _name(each: "Field[Any]") -> str:
    needed = each.default is MISSING and each.default_factory is MISSING
    return f"`{each.name}`" if needed else f"[`{each.name}`]"


def transition_table() -> str:
    """Render the events allowed in each status as a Markdown table with one row per event."""
    statuses = list(ALLOWED)
    head = "| event | " + " | ".join(status or "(none)" for status in statuses) + " |"
    rows = [_row(kind_of(each), statuses) for each in events()]
    return "\n".join([head, "|---" * (len(statuses) + 1) + "|", *rows])


def _row(kind: str, statuses: list[str]) -> str:
    cells = [_cell(status, kind) for status in statuses]
    return f"| `{kind}` | " + " | ".join(cells) + " |"


def _cell(status: str, kind: str) -> str:
    if kind not in ALLOWED[status]:
        return ""
    return "stays" if kind not in LEADS_TO else " ".join(targets(status, kind))


def targets(status: str, kind: str) -> tuple[str, ...]:
    """List the statuses that an allowed event can lead to."""
    if kind == "run_ended":
        return ENDS.get(status, ("cancelled",))
    return LEADS_TO.get(kind, (status,))


def state_diagram() -> str:
    """Render how a run's status changes as a Mermaid diagram, without the events that leave it unchanged."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for status, kinds in ALLOWED.items():
        for kind in sorted(kinds):
            for after in targets(status, kind):
                if after != status:
                    arrows.setdefault((status or "[*]", after), []).append(kind)
    lines = [f"    {before} --> {after}: {', '.join(kinds)}" for (before, after), kinds in arrows.items()]
    final = [f"    {status} --> [*]" for status, kinds in ALLOWED.items() if not kinds]
    return "\n".join(["stateDiagram-v2", *lines, *final])

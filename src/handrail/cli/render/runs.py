"""Runs and their steps as text, fitted to the width of the terminal."""

import json
import shutil
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import click

from handrail.cli.render.layout import flow, wrap_text
from handrail.cli.render.safe_text import crop, escape_controls, pad, width
from handrail.operations.views.overview import RunRow, clock_words

if TYPE_CHECKING:
    from handrail.model.workflow.values import JsonValue
    from handrail.operations.driving.driver_info import DriverInfo, HeldLogins

WIDTH = 110
"""The columns if the width is unknown: on a pipe."""
MAX_WORDS, MIN_BESIDE, MIN_WORDS = 60, 32, 24
"""Columns for the message of a run: at most, at least with the command beside it, and at least on one line."""
GAP = "  "
COLORS = {"NEEDS YOU": "yellow", "PAUSED": "yellow", "WAITING": "cyan", "RUNNING": "blue"}
MARKS = {"succeeded": "✓", "failed": "✗", "waiting": "?", "running": "▸"}
NOT_DONE = "–"
"""Marks a step that was skipped, passed over or stopped."""
STEP_WORDS = {"passed_over": "failed, and passed over", "waiting": "needs you"}


def render_overview(lines: Sequence[RunRow], more: str = "") -> str:
    """Render runs by section, each with the next command, then `more`: how to see the runs that were left out.

    The repository of each is shown if they work in several.
    """
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    names = _repository_names(lines)
    rows = [_cells(line, names.get(line.repository, "")) for line in lines]
    text = _table(rows, columns) or [_stack_cells(row, columns) for row in rows]
    return "\n".join([*text, *(wrap_text(more, columns) if more else ()), *render_notices(lines)])


def _repository_names(lines: Sequence[RunRow]) -> dict[str, str]:
    """Name repositories by as few folders as distinguish them; return nothing if all runs work in the same one."""
    found = {line.repository for line in lines}
    if len(found) < 2:
        return {}
    names: dict[str, str] = {}
    for path in found:
        parts = path.strip("/").split("/")
        others = [other.strip("/").split("/") for other in found if other != path]
        alike = (size for size in range(1, len(parts) + 1) if all(parts[-size:] != each[-size:] for each in others))
        names[path] = "/".join(parts[-next(alike, len(parts)) :])
    return names


def render_notices(lines: Sequence[RunRow]) -> list[str]:
    """Render what agents tried although only people may do it."""
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    told = [f"! {escape_controls(line.notice)}  handrail why {line.run}" for line in lines if line.notice]
    return [row for each in told for row in wrap_text(each, columns, first="", later="  ")]


def _cells(line: RunRow, repository: str) -> list[str]:
    words = " ".join(line.words.split())
    said = "" if words == line.section else words
    cells = (line.section.upper(), line.run, repository, line.where, said, line.cost, line.next_step)
    return [escape_controls(cell) for cell in cells]


def _table(rows: list[list[str]], columns: int) -> list[str] | None:
    """Render one line per run, the command below if it does not fit; return None if no room is left for messages."""
    widest = [max((width(row[at]) for row in rows), default=0) for at in range(7)]
    title, run, repository, where, words, cost, command = widest
    others = sum(each + len(GAP) for each in (title, run, repository, where, cost) if each)
    beside = columns - others - command - len(GAP)
    room = min(words, MAX_WORDS, beside if beside >= MIN_BESIDE else columns - others)
    if room < min(words, MIN_WORDS) or others > columns:
        return None
    text: list[str] = []
    for row in rows:
        sizes = (title, run, repository, where, room, cost)
        cells = [pad(crop(cell, size), size) for cell, size in zip(row[:6], sizes, strict=True) if size]
        text.append(_color_title(_place_command(GAP.join(cells), row[6], columns, title + len(GAP)), row[0]))
    return text


def _place_command(line: str, command: str, columns: int, indent: int) -> str:
    """Put the command into its column, or at the end of the line, or below it."""
    if width(line) + len(GAP) + width(command) <= columns:
        return f"{line}{GAP}{command}"
    line = line.rstrip()
    if width(line) + len(GAP) + width(command) <= columns:
        return pad(line, columns - width(command)) + command
    return f"{line}\n{' ' * indent}{command}"


def _stack_cells(row: list[str], columns: int) -> str:
    head = flow([cell for cell in (row[0], row[1], row[2], row[5]) if cell], columns)
    below = [
        line for cell in (row[3], row[4], row[6]) if cell for line in wrap_text(cell, columns, first=GAP, later=GAP)
    ]
    return _color_title("\n".join([*head, *below]), row[0])


def _color_title(text: str, title: str) -> str:
    color = COLORS.get(title)
    return text if color is None else click.style(title, fg=color, bold=True) + text.removeprefix(title)


def render_steps(document: "dict[str, JsonValue]") -> str:
    """Render the steps of a run, one per line."""
    steps: Any = document["steps"]
    widest = max((width(escape_controls(str(each["address"]))) for each in steps), default=0)
    lines: list[str] = []
    for each in steps:
        address = pad(escape_controls(str(each["address"])), widest)
        tries = f"  try {each['attempts']}" if each["attempts"] > 1 else ""
        lines.append(f"{MARKS.get(each['status'], NOT_DONE)} {address}  {step_words(each['status'])}{tries}")
    return "\n".join(lines) or "no step has started"


def local_moment(seconds: float) -> str:
    """Format a time for people: in their own time zone, to the second."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"


def moment_words(iso: str) -> str:
    """Format a time from a JSON document for people."""
    return local_moment(datetime.fromisoformat(iso).timestamp())


def readable_lines(value: object) -> list[str]:
    """Format a value as readable lines: fields below each other, texts as they are."""
    match value:
        case dict() if value:
            fields = cast("dict[str, object]", value)
            return [line for name, each in fields.items() for line in _nest_lines(f"{name}:", readable_lines(each))]
        case list() if value:
            return [line for each in cast("list[object]", value) for line in _nest_lines("-", readable_lines(each))]
        case str():
            return value.rstrip("\n").splitlines() or [""]
        case _:
            return [json.dumps(value, ensure_ascii=False)]


def _nest_lines(title: str, lines: list[str]) -> list[str]:
    if len(lines) == 1:
        return [f"{title} {lines[0]}".rstrip()]
    return [title, *(f"  {line}" for line in lines)]


def step_words(status: str) -> str:
    """Describe the state of a step."""
    return STEP_WORDS.get(status, status)


def status_words(document: "dict[str, Any]") -> str:
    """Describe the state of a run: `needs you (approval)`, `waiting until 14:05`, `paused`."""
    status, reason = document["status"], document["reason"]
    if status == "blocked":
        return f"needs you ({reason})" if reason else "needs you"
    if status != "waiting":
        return str(status)
    if reason in ("approval", "question"):
        return f"needs you ({reason})"
    if reason == "pause":
        return "paused"
    until = f" until {clock_words(document['until'])}" if document.get("until") else ""
    return f"waiting{until}" + (" (usage limit)" if reason == "quota" else "")


def driver_data(driver: "DriverInfo", held: "tuple[HeldLogins, ...] | None") -> dict[str, Any]:
    """Convert the driver to JSON data: its process, its own logins by variable, and those of the runs it drives."""
    from handrail.operations.views.run_document import iso

    own = next((each.logins for each in held or () if not each.run), ())
    runs = [{"run": each.run, "logins": _logins(each.logins)} for each in held or () if each.run]
    return {
        "pid": driver.pid,
        "since": iso(driver.since),
        "takes_environments": held is not None,
        "logins": _logins(own),
        "environments": runs,
    }


def _logins(logins: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"agent": agent, "variable": variable} for agent, variable in logins]

"""The live lines of a run: what is in progress, by whom, since when, at what cost."""

from collections.abc import Callable
from datetime import datetime

import click

from handrail.cli.render.safe_text import crop, escape_controls, pad, width
from handrail.frozen import frozen
from handrail.operations.driving.live import Activity, StepActivity, TimedWait

MAX_ROWS = 5
"""The number of parallel steps that are shown."""
MIN_PREVIEW = 10
MIN_BESIDE = 25
"""The columns that must remain for an agent's activity beside the hint."""
HINT = "Ctrl-C pauses, nothing is lost"
PAUSING = "pausing …"


@frozen
class RowContext:
    """What the lines depend on besides the activity."""

    now: float
    columns: int
    cost: str
    """What was spent so far, such as `$0.12 of $6.00`."""
    hint: str = HINT


def rows(activity: Activity, glimpse: Callable[[StepActivity], str], around: RowContext) -> list[str]:
    """Render the live lines, each within its columns."""
    efforts, breaks = activity.efforts, activity.breaks
    several = len(efforts) + len(breaks) > 1
    shown = [_effort(each, glimpse(each), around, cost="" if several else around.cost) for each in efforts[:MAX_ROWS]]
    shown += [_break(each, around) for each in breaks[: MAX_ROWS - len(shown)]]
    rest = len(efforts) + len(breaks) - len(shown)
    foot = " · ".join(part for part in (f"and {rest} more" if rest else "", around.cost if several else "") if part)
    if foot:
        shown.append(crop(f"  {foot}", around.columns))
    if shown:
        shown[-1] = _append_hint(shown[-1], around)
    return shown


def format_elapsed(seconds: float) -> str:
    """Format a running time: `0:48`, `12:03`, `1:05:00`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def local_time(seconds: float, now: float) -> str:
    """Format a local time, with the day if that is not today: `14:05`."""
    at, today = (datetime.fromtimestamp(each).astimezone() for each in (seconds, now))
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%H:%M on %A %d %B}"


def _effort(effort: StepActivity, glimpse: str, around: RowContext, *, cost: str) -> str:
    room = around.columns - 4 - min(width(escape_controls(effort.address)), around.columns // 2)
    details = _details(effort, format_elapsed(around.now - effort.began), cost, room)
    head = crop(f"▸ {escape_controls(effort.address)}", max(1, around.columns - width(details) - 2))
    line = crop(f"{head}  {details}", around.columns)
    doing = escape_controls(glimpse or effort.says)
    left = around.columns - width(line) - 2
    hint = width(around.hint) + 2
    room = left - hint if left >= hint + MIN_BESIDE else left
    return f"{line}  {crop(doing, room)}" if doing and left >= MIN_PREVIEW else line


def _details(effort: StepActivity, time: str, cost: str, room: int) -> str:
    """Format who, which try, since when and the cost; the least important is left out if there is no room."""
    most = f" of {effort.attempts}" if effort.attempts else ""
    again = f"try {effort.attempt}{most}" if effort.attempt > 1 else ""
    parts = [effort.who, again, time, cost]
    for least in (effort.who, cost, again):
        if width(_join_parts(parts)) <= room:
            break
        parts.remove(least)
    return _join_parts(parts)


def _join_parts(parts: list[str]) -> str:
    return "  ".join(escape_controls(part) for part in parts if part)


def _break(waits: TimedWait, around: RowContext) -> str:
    why = "usage limit, " if waits.quota else ""
    return crop(
        f"… {escape_controls(waits.address)}  {why}waits until {local_time(waits.until, around.now)}", around.columns
    )


def _append_hint(line: str, around: RowContext) -> str:
    left = around.columns - width(line)
    if left < width(around.hint) + 2:
        return line
    return pad(line, around.columns - width(around.hint)) + click.style(around.hint, dim=True)

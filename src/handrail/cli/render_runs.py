"""Runs and their steps as text."""

from collections.abc import Sequence
from typing import Any

from handrail.cli.safe_text import crop, harmless, pad, width
from handrail.model.values import JsonValue
from handrail.operations.run_views import Line

WIDTH = 110
MOST_ENDED = 10
TITLES = {"needs you": "NEEDS YOU", "running": "RUNNING", "ended": "ENDED"}
MARKS = {"succeeded": "✓", "failed": "✗", "skipped": "–", "passed_over": "–", "waiting": "?", "running": "▸"}


def render_overview(lines: Sequence[Line]) -> str:
    """Give runs as a table by section, each with the next command."""
    ended = [line for line in lines if line.section == "ended"]
    shown = [line for line in lines if line.section != "ended"] + ended[:MOST_ENDED]
    rows = [
        (TITLES[each.section], each.run, each.step, " ".join(each.words.split()), each.cost, each.next_step)
        for each in shown
    ]
    safe = [[harmless(cell) for cell in row] for row in rows]
    columns = [max((width(row[at]) for row in safe), default=0) for at in range(3)]
    said = min(60, max((width(row[3]) for row in safe), default=0))
    costs = max((width(row[4]) for row in safe), default=0)
    text: list[str] = []
    for row in safe:
        cost = [pad(row[4], costs)] if costs else []
        cells = [*(pad(row[at], columns[at]) for at in range(3)), pad(crop(row[3], said), said), *cost, row[5]]
        text.append("  ".join(cells).rstrip())
    if len(ended) > MOST_ENDED:
        text.append(f"and {len(ended) - MOST_ENDED} more that ended (handrail status --json shows all)")
    return "\n".join(text)


def render_steps(document: dict[str, JsonValue]) -> str:
    """Give the steps of a run, one per line."""
    steps: Any = document["steps"]
    widest = max((width(harmless(str(each["address"]))) for each in steps), default=0)
    lines: list[str] = []
    for each in steps:
        address = pad(harmless(str(each["address"])), widest)
        tries = f"  try {each['attempts']}" if each["attempts"] > 1 else ""
        lines.append(f"{MARKS[each['status']]} {address}  {each['status'].replace('_', ' ')}{tries}")
    return "\n".join(lines) or "no step has begun"

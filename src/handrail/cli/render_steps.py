"""One line for each thing that happens to a step, while it happens."""

from collections.abc import Callable
from typing import Any, cast

import click

from handrail.cli.safe_text import crop, harmless
from handrail.model import events as ev
from handrail.operations.driving import Happened
from handrail.operations.explaining import DECIDED, why_words
from handrail.operations.run_views import iso

WIDTH = 110
MARKS = {"✓": "green", "✗": "red", "?": "yellow", "–": None, "…": None, "▸": None}


class StepLines:
    """Gives the line of an event; remembers when steps began."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, str], float] = {}

    def line(self, happened: Happened) -> str | None:
        """Give the line that an event is worth, if any."""
        event = happened.event
        address = str(getattr(event, "address", ""))
        key = (happened.run, address)
        if isinstance(event, ev.StepBegan | ev.LoopEntered | ev.ChildStarted | ev.ApprovalRequested | ev.GroupEntered):
            self._began[key] = event.at
        said = _said(event)
        if said is None:
            return None
        mark, words = said
        ended = isinstance(event, ev.StepEnded | ev.LoopEnded | ev.GroupLeft)
        took = f"{seconds(event.at - self._began.get(key, event.at))}  " if ended else ""
        text = crop(harmless(f"{happened.via}{address}  {took}{words}".rstrip()), WIDTH)
        return f"{click.style(mark, fg=MARKS[mark])} {text}"


def seconds(took: float) -> str:
    """Say how long something took: `0.1s`, `48s`, `2m10s`."""
    if took < 10:
        return f"{max(0.0, took):.1f}s"
    minutes, rest = divmod(round(took), 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def _said(event: ev.Event) -> tuple[str, str] | None:
    say = _WORDS.get(event.kind)
    return None if say is None else say(event)


def _answered(event: ev.ApprovalDecided) -> str:
    return f"{DECIDED[event.decision]} by {event.by}" + (f": {event.feedback}" if event.feedback else "")


def _ended(event: ev.StepEnded) -> tuple[str, str]:
    if event.status == "failed":
        return "✗", event.error or f"exit {event.exit_code}"
    checked = cast("dict[str, Any]", event.output) if isinstance(event.output, dict) else {}
    if checked.get("passed") is True:
        return "✓", "checks passed"
    return "✓", f"by {event.by}" if event.by else ""


def _loop_ended(event: ev.LoopEnded) -> tuple[str, str]:
    return "✓", f"loop ended: {event.reason}" + (f", {why_words(event.why)}" if event.why else "")


def _round_ended(event: ev.RoundEnded) -> tuple[str, str] | None:
    return ("✗", f"round {event.round} failed: {event.error}") if event.failed else None


_WORDS: dict[str, Callable[[Any], tuple[str, str] | None]] = {
    "step_skipped": lambda event: ("–", f"skipped: {why_words(event.why)}"),
    "step_ended": _ended,
    "step_passed_over": lambda _: ("–", "failed, and the run goes on without it"),
    "retry_scheduled": lambda event: ("…", f"try {event.attempt} follows at {iso(event.due)}"),
    "round_ended": _round_ended,
    "loop_ended": _loop_ended,
    "approval_requested": lambda event: ("?", f"needs you: {event.message or 'approve?'}"),
    "approval_decided": lambda event: ("✗" if event.decision == "reject" else "✓", _answered(event)),
    "child_started": lambda event: ("▸", f"{event.workflow} as {event.child}"),
}
"""Kind of event with what its line says; the others are worth none."""

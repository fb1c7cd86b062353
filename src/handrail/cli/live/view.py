"""The view of a run while it is driven: a line for each thing done, and live lines for what is in progress."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import click

from handrail.cli.live.area import LiveArea, PlainLines, Writer, terminal_columns
from handrail.cli.render.layout import wrap_text
from handrail.cli.render.safe_text import escape_controls, width
from handrail.cli.render.step_rows import HINT, PAUSING, RowContext, local_time, rows
from handrail.cli.render.steps import WIDTH, StepLines
from handrail.model.history import events as ev
from handrail.operations.driving.drive import RunEvent
from handrail.operations.driving.live import Activity, StepActivity
from handrail.operations.views.money import limit_words, price_words
from handrail.operations.views.run_document import plan_of, run_limits, state_of
from handrail.wiring.session import Session

MAX_NAME_WIDTH = 16
"""The number of columns up to which the names of steps are aligned."""


@dataclass(slots=True)
class LiveView:
    """Shows events as they arrive, and what is in progress."""

    session: Session
    run: str
    activity: Activity
    writer: Writer
    lines: StepLines
    live: bool
    glimpse: Callable[[str, int, str | None], str]
    """Describes what the agent of an effort is doing."""
    _limit: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._limit = self._most()

    def show(self, happened: RunEvent) -> None:
        """Show an event."""
        before = self.activity.last(happened.run)
        self.activity.see(happened)
        event = happened.event
        if isinstance(event, ev.RunResumed) and happened.run == self.run:
            self._limit = self._most()
        if isinstance(event, ev.RetryScheduled) and event.reason == "quota":
            self._say_limit(event, before)
            return
        columns = self.writer.columns - 2 if self.live else WIDTH
        line = self.lines.line(happened, columns, self._fixing(happened, before))
        if line is not None:
            self.writer.say(line)

    def tick(self, *, pausing: bool) -> None:
        """Update the live lines."""
        if not self.live:
            return
        hint = PAUSING if pausing else HINT
        around = RowContext(time.time(), self.writer.columns, self._cost(), hint)
        self.writer.draw(rows(self.activity, self._latest_activity, around))

    def close(self) -> None:
        """Remove the live lines."""
        self.writer.draw(())

    def _latest_activity(self, effort: StepActivity) -> str:
        if effort.reports or not effort.who:
            return effort.reports
        return self.glimpse(effort.run, effort.seq, effort.agent)

    def _cost(self) -> str:
        spent = self.activity.spent
        if self._limit is None:
            return price_words(spent)
        about = "~" if spent.unpriced or spent.estimated else ""
        return about + limit_words("usd", spent.usd, self._limit)

    def _most(self) -> float | None:
        state = state_of(self.session.log, self.run)
        return run_limits(plan_of(self.session.log, state.plan), state).get("usd")

    def _fixing(self, happened: RunEvent, effort: StepActivity | None) -> str:
        """Describe which fix follows checks that failed."""
        event = happened.event
        if not self.live or effort is None or not isinstance(event, ev.StepEnded) or event.status != "failed":
            return ""
        most = self.activity.fixes(happened.run, event.address)
        return f" → fixing, try {effort.attempt} of {most}" if effort.attempt <= most else ""

    def _say_limit(self, event: ev.RetryScheduled, effort: StepActivity | None) -> None:
        whose = f"{effort.who.partition('/')[0].capitalize()}'s" if effort is not None and effort.who else "The agent's"
        resumes = f"Continues at {local_time(event.due, event.at)}, even without this terminal; Ctrl-C pauses."
        text = escape_controls(f"{whose} usage limit is reached. {resumes}")
        for line in wrap_text(text, self.writer.columns, later="  ") if self.live else [text]:
            self.writer.say(line)


def view_of(session: Session, run: str, activity: Activity, *, as_json: bool, in_place: bool) -> LiveView:
    """Build the view that fits the output."""
    live = is_live(as_json=as_json)
    on_terminal = sys.stdout.isatty() and not as_json
    columns = terminal_columns() if on_terminal else WIDTH
    writer = LiveArea(sys.stdout, color=_has_color()) if live else PlainLines(as_json, columns)
    name = _names(session, run) if live else 0
    lines = StepLines(live=live, in_place=on_terminal and in_place, name=name)
    return LiveView(
        session,
        run,
        activity,
        writer,
        lines,
        live,
        session.system.activity.describe_activity if live else _report_no_activity,
    )


def _report_no_activity(run: str, seq: int, agent: str | None) -> str:  # noqa: ARG001 (nobody sees it)
    return ""


def is_live(*, as_json: bool = False) -> bool:
    """Whether stdout is a terminal on which lines can be redrawn."""
    return not as_json and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb")


def _has_color() -> bool:
    context = click.get_current_context(silent=True)
    return context is None or context.color is not False


def _names(session: Session, run: str) -> int:
    plan = plan_of(session.log, state_of(session.log, run).plan)
    return min(MAX_NAME_WIDTH, max((width(step.name) for step in plan.steps), default=0))

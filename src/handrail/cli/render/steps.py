"""One line for each thing that happens to a step, as it happens."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import click

from handrail.cli.render.safe_text import crop, escape_controls, pad
from handrail.cli.render.step_rows import local_time
from handrail.late_import import late_import
from handrail.model.actors import actor_words
from handrail.model.history import events as ev
from handrail.model.history.run_state import FILTER_GAP
from handrail.operations.driving.drive import RunEvent
from handrail.operations.views.event_sentences import (
    address_of,
    agent_call_in,
    agent_words,
    event_sentence,
    fallback_in,
    proofs_in,
    spending_in,
)
from handrail.operations.views.money import duration, price_words
from handrail.operations.views.run_document import iso

if TYPE_CHECKING:
    from handrail.operations.views import explain
else:
    explain = late_import("handrail.operations.views.explain")

WIDTH = 110
BLANK = "  "
BEGIN = frozenset(
    {"step_began", "loop_entered", "child_started", "approval_requested", "group_entered", "work_entered"}
    | {"item_started"}
)
END = frozenset({"step_ended", "loop_ended", "group_left", "work_left", "item_ended"})
OF_RUN = frozenset({"workspace_ready", "tree_restored"})
"""Shown for the run that is watched, not for its child runs."""
WHOLE = OF_RUN | {"git_settings_changed", "gap_recorded"}
"""Not cropped: a path could not be copied, and a warning could not be understood."""
ASKS = frozenset({"approval_requested", "question_asked"})
MARKS = {"✓": "green", "✗": "red", "?": "yellow", "–": None, "…": None, "▸": None}


LIVE = frozenset({"step_began", "item_started"})
"""Shown by the live lines while it lasts, so that it needs no line of its own."""


class StepLines:
    """Renders the line of an event; remembers when steps began.

    `live` leaves out what the live lines show, `in_place` what the following question says; `name` is the width of
    the steps' names if these form a column.
    """

    def __init__(self, *, live: bool = False, in_place: bool = False, name: int = 0) -> None:
        self._live = live
        self._in_place = in_place
        self._name = name
        self._began: dict[tuple[str, str], float] = {}
        self._gates: dict[tuple[str, str], bool] = {}
        """Gates that are in progress, with whether their checks have failed before."""
        self._calls: set[tuple[str, str]] = set()
        """Calls of flows: the run of each reports itself what it does."""
        self._held: set[str] = set()
        """Runs whose agent steps a connected agent performs."""

    def line(self, happened: RunEvent, most: int = WIDTH, more: str = "") -> str | None:
        """Render the line of an event, if it has one, in at most `most` columns; `more` is added to its text."""
        event = happened.event
        address = address_of(event)
        key = (happened.run, address)
        if event.kind in BEGIN:
            self._began[key] = event.at
        if isinstance(event, ev.ClockNoted):
            self._began |= {each: at + event.by for each, at in self._began.items() if each[0] == happened.run}
        self._note_holder(happened)
        if isinstance(event, ev.ChildStarted) and event.plan:
            self._calls.add(key)
        said = self._describe_gate(key, event) if key in self._gates else _describe_event(event)
        if isinstance(event, ev.WorkEntered) and event.action == "gate":
            self._gates[key] = False
        if said is None or self._is_left_out(happened):
            return None
        mark, words = said
        if self._in_place and event.kind in ASKS:
            words = "needs you"
        took = duration(event.at - self._began.get(key, event.at)) if event.kind in END else ""
        spent = spending_in(event)
        price = price_words(spent) if spent is not None else ""
        name = pad(escape_controls(f"{happened.via}{address}"), self._name)
        text = BLANK.join(part for part in (name, took, price, escape_controls(words + more)) if part)
        text = text if event.kind in WHOLE else crop(text, most)
        return f"{click.style(mark, fg=MARKS[mark])} {text.rstrip()}"

    def _is_left_out(self, happened: RunEvent) -> bool:
        event = happened.event
        if (happened.run, address_of(event)) in self._calls:
            return True
        if event.kind in OF_RUN and happened.inner:
            return True
        if isinstance(event, ev.StepBegan) and happened.run in self._held and agent_call_in(event) is not None:
            # It only waits for its holder: the agent named in it is not started.
            return True
        made = isinstance(event, ev.WorkspaceReady) and not event.again
        reports = isinstance(event, ev.ToolCalled) and event.success and event.tool == "report_progress"
        return self._live and (made or reports or event.kind in LIVE)

    def _note_holder(self, happened: RunEvent) -> None:
        if isinstance(happened.event, ev.RunTaken):
            self._held.add(happened.run)
        elif isinstance(happened.event, ev.RunReleased):
            self._held.discard(happened.run)

    def _describe_gate(self, key: tuple[str, str], event: ev.Event) -> tuple[str, str] | None:
        """Describe a gate with a fix in one line when it is done, with a line for each time that its checks failed."""
        if isinstance(event, ev.StepEnded) and event.status == "failed":
            self._gates[key] = True
        elif isinstance(event, ev.StepEnded):
            return None
        failed = isinstance(event, ev.WorkLeft) and self._gates.pop(key)
        return (
            ("✓", "✗ → fixed → ✓") if failed and getattr(event, "status", "") == "succeeded" else _describe_event(event)
        )


def _describe_event(event: ev.Event) -> tuple[str, str] | None:
    say = _WORDS.get(event.kind)
    return None if say is None else say(event)


def _describe_decision(event: ev.ApprovalDecided) -> str:
    said = f": {event.feedback}" if event.feedback else ""
    return f"{explain.DECIDED[event.decision]} by {actor_words(event.by)}{said}"


def _describe_step_ended(event: ev.StepEnded) -> tuple[str, str]:
    if event.status == "failed":
        return "✗", " · ".join(part for part in (event.error or f"exit {event.exit_code}", _last_line(event)) if part)
    checked = cast("dict[str, Any]", event.output) if isinstance(event.output, dict) else {}
    if checked.get("passed") is True:
        return "✓", "checks passed"
    proofs = " · ".join(str(each["what"]) for each in proofs_in(event))
    if proofs:
        return "✓", f"proof: {proofs}"
    return "✓", f"by {actor_words(event.by)}" if event.by else ""


def _last_line(event: ev.StepEnded) -> str:
    """Return the last line of a failed command, which usually is the reason; that make failed too is not one."""
    lines = (line.strip() for line in f"{event.stdout}\n{event.stderr}".splitlines())
    said = [line for line in lines if line and not line.startswith("make:")]
    return said[-1] if said and event.exit_code is not None and said[-1] not in event.error else ""


def _describe_step_began(event: ev.StepBegan) -> tuple[str, str] | None:
    call = agent_call_in(event)
    if call is None:
        return None
    again = f"  try {event.attempt}" if event.attempt > 1 else ""
    why = fallback_in(call)
    instead = f"  {why}" if why else ""
    return "▸", f"{agent_words(call)}{again}{instead}"


def _describe_work_left(event: ev.WorkLeft) -> tuple[str, str]:
    return ("✓" if event.status == "succeeded" else "✗"), event_sentence(event) or ""


def _describe_item_ended(event: ev.ItemEnded) -> tuple[str, str]:
    good = event.result.get("status") == "succeeded"
    branch = f"on branch {event.result['branch']}" if event.result.get("branch") else ""
    return ("✓", branch) if good else ("✗", event_sentence(event) or "")


def _describe_work_entered(event: ev.WorkEntered) -> tuple[str, str] | None:
    return ("▸", event_sentence(event) or "") if event.action in ("parallel-agents", "merge") else None


def _describe_tree_restored(event: ev.TreeRestored) -> str:
    return f"the files are restored; what was there before is kept: git show {event.kept}"


def _describe_loop_ended(event: ev.LoopEnded) -> tuple[str, str]:
    return "✓", f"loop ended: {event.reason}" + (f", {explain.describe_why(event.why)}" if event.why else "")


def _describe_round_ended(event: ev.RoundEnded) -> tuple[str, str] | None:
    return ("✗", f"round {event.round} failed: {event.error}") if event.failed else None


def _describe_retry(event: ev.RetryScheduled) -> str:
    if event.reason == "quota":
        return f"usage limit reached, continues automatically at {local_time(event.due, event.at)}"
    return f"try {event.attempt} follows at {iso(event.due)}"


_WORDS: dict[str, Callable[[Any], tuple[str, str] | None]] = {
    "step_skipped": lambda event: ("–", f"skipped: {explain.describe_why(event.why)}"),
    "workspace_ready": lambda event: ("✓", event_sentence(event) or ""),
    "step_began": _describe_step_began,
    "step_ended": _describe_step_ended,
    "step_refused": lambda event: ("✗", event_sentence(event) or ""),
    "work_entered": _describe_work_entered,
    "work_left": _describe_work_left,
    "item_started": lambda event: ("▸", event_sentence(event) or ""),
    "item_ended": _describe_item_ended,
    "question_asked": lambda event: ("?", f"needs you: {event.question}"),
    "question_answered": lambda event: ("✓", event_sentence(event) or ""),
    "message_given": lambda event: ("✓", event_sentence(event) or ""),
    "step_passed_over": lambda event: ("✓" if event.how == "answered" else "–", event_sentence(event) or ""),
    "retry_scheduled": lambda event: ("…", _describe_retry(event)),
    "round_ended": _describe_round_ended,
    "loop_ended": _describe_loop_ended,
    "approval_requested": lambda event: ("?", f"needs you: {event.message or 'approve?'}"),
    "approval_decided": lambda event: ("✗" if event.decision == "reject" else "✓", _describe_decision(event)),
    "tree_restored": lambda event: ("…", _describe_tree_restored(event)) if event.kept else None,
    "run_queued": lambda event: ("…", event.message),
    "run_admitted": lambda event: ("✓", event_sentence(event) or "") if event.waited else None,
    "child_started": lambda event: ("▸", f"{event.workflow} as {event.child}"),
    "command_refused": lambda event: ("✗", event_sentence(event) or ""),
    # Other gaps are reported at the end: this one says what the run cannot do, while that can still be changed.
    "gap_recorded": lambda event: ("–", event.message) if event.about == FILTER_GAP else None,
    "git_settings_changed": lambda event: ("✗" if event.changes else "✓", event_sentence(event) or ""),
    "tool_called": lambda event: ("▸" if event.success else "✗", event_sentence(event) or ""),
    "child_ended": lambda event: ("✓" if event.status == "succeeded" else "✗", event_sentence(event) or ""),
}
"""Kind of event -> the function that words its line; other kinds have no line."""

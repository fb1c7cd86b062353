"""What a run and its child runs wait for a person to decide: an approval, an answer, more budget."""

from dataclasses import field
from typing import Literal, TypeAlias, cast

from handrail.engine.state.budgets import asks_at_limit
from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.actors import actor_words
from handrail.model.history.run_lines import Row
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.run_document import approval_data
from handrail.operations.views.run_tree import family_rows, find_acting_run, find_run_awaiting_approval
from handrail.ports.log import Log
from handrail.runtime.history import plan_of, state_of
from handrail.runtime.run_summary import summary_of

Kind: TypeAlias = Literal["approval", "question", "budget"]
NeedKind: TypeAlias = Literal["approval", "question", "budget", "blocked", "paused", "held", "interrupted"]
"""Why a run does not move on its own; `held`: with a connected agent, `interrupted`: no process drives it."""


@frozen
class RunNeed:
    """What a run needs before it can continue."""

    kind: NeedKind
    run: str
    """The run that needs it: the run itself, or one that it started."""
    step: str
    message: str
    next_step: str
    """What a person may do about it, usually a command."""
    answers: tuple[str, ...] = ()
    """The possible decisions on an approval."""
    show: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The values that an approval shows."""


def find_need(log: Log, run: str) -> RunNeed | None:
    """Return what a run needs from somebody; None if it has ended, or moves as long as some process drives it."""
    state = find_acting_run(log, run).acting
    step = str(summary_of(state).get("current_step") or "")
    asks = find_run_awaiting_approval(log, run)
    asked = None if asks is None else approval_data(log, asks)
    if asked is not None:
        choices = tuple(str(each) for each in cast("list[JsonValue]", asked["answers"]))
        later = f"handrail approve {state.run}, or revise, or reject"
        show = cast("dict[str, JsonValue]", asked["show"])
        return RunNeed("approval", state.run, step, str(asked["message"]), later, choices, dict(show))
    if state.status == "blocked":
        kind: NeedKind = "budget" if state.reason == "budget" else "blocked"
        return RunNeed(kind, state.run, step, state.message, state.next_step or f"handrail resume {state.family}")
    if state.reason in ("question", "review"):
        return RunNeed("question", state.run, step, state.message, f'handrail answer {state.run} "..."')
    if state.reason == "pause":
        return RunNeed("paused", state.run, step, state.message or "paused", f"handrail resume {state.family}")
    if state.status == "running" and state.held_by:
        message = f"{actor_words(state.held_by)} has the next step"
        return RunNeed("held", state.run, step, message, f"handrail release {state.run}")
    return None


def describe_interruption(log: Log, run: str) -> RunNeed:
    """Describe what a run needs that no process drives."""
    state = find_acting_run(log, run).acting
    step = str(summary_of(state).get("current_step") or "")
    return RunNeed("interrupted", state.run, step, "no process drives it", f"handrail resume {state.family}")


def open_questions(log: Log, run: str) -> tuple[str, ...]:
    """List the runs of a family that wait for a person, the oldest first; only summaries are read."""
    rows = family_rows(log, run)
    found = [row for row in rows.values() if _is_asking(row) and _is_awaited(row, rows, run)]
    return tuple(row.key for row in sorted(found, key=lambda row: row.position))


def kind_of(log: Log, state: RunState) -> Kind | None:
    """Return what a run asks a person for, or None."""
    if state.status == "waiting" and state.reason in ("approval", "question"):
        return "approval" if state.reason == "approval" else "question"
    asks = state.status == "blocked" and state.reason == "budget" and asks_at_limit(plan_of(log, state.plan), state)
    return "budget" if asks else None


def find_question(
    log: Log, run: str, passed_over: frozenset[tuple[str, int]] = frozenset()
) -> tuple[RunState, Kind] | None:
    """Return the first run of a family that asks a person, ignoring the questions in `passed_over`."""
    for each in open_questions(log, run):
        if log.inbox(each, limit=1):
            # It was answered, and nobody has processed the answer yet.
            continue
        try:
            state = state_of(log, each)
        except NotFound:
            continue
        kind = kind_of(log, state)
        if kind is not None and (each, question_seq(state)) not in passed_over:
            return state, kind
    return None


def question_seq(state: RunState) -> int:
    """Return the event by which a run asks: together with the run it identifies the question."""
    return state.seq if state.pending is None else state.pending.seq


def _is_asking(row: Row) -> bool:
    status, reason = row.document.get("status"), row.document.get("reason")
    return (status, reason) in (("waiting", "approval"), ("waiting", "question"), ("blocked", "budget"))


def _is_awaited(row: Row, rows: dict[str, Row], run: str) -> bool:
    """Whether everything around it is still running: nobody waits for the question of a run whose caller has ended."""
    key = row.key
    while key != run:
        parent = rows.get(rows[key].facts.parent or "")
        if parent is None or parent.document.get("status") != "running":
            return False
        key = parent.key
    return True

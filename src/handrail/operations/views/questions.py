"""What a run and its child runs wait for a person to decide: an approval, an answer, more budget."""

from typing import Literal, TypeAlias

from handrail.engine.state.budgets import asks_at_limit
from handrail.errors import NotFound
from handrail.model.history.run_lines import Row
from handrail.model.history.run_state import RunState
from handrail.operations.views.run_tree import family_rows
from handrail.ports.log import Log
from handrail.runtime.history import plan_of, state_of

Kind: TypeAlias = Literal["approval", "question", "budget"]


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

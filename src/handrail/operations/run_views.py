"""A run as people and programs see it: one document, and where it stands in a few words."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from handrail.errors import StorageDamaged
from handrail.model.names import spoken
from handrail.model.run import RunState, StepState
from handrail.model.values import JsonValue
from handrail.operations.addresses import members
from handrail.operations.families import Standing, root_of, standing
from handrail.operations.money import usd_words
from handrail.ports.log import Filter, Log, Row
from handrail.runtime.histories import state_of
from handrail.runtime.summaries import summary_of

Section: TypeAlias = Literal["needs you", "running", "ended"]
DOCUMENT = (
    "run",
    "workflow",
    "hash",
    "status",
    "reason",
    "input",
    "current_step",
    "started_at",
    "completed_at",
    "error",
    "outputs",
    "cost",
    "unpriced",
    "workspace",
)
BUDGETED = frozenset({"quota", "budget"})


def iso(seconds: object) -> str | None:
    """Give a time as ISO 8601 in UTC."""
    if not isinstance(seconds, int | float):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_document(log: Log, run: str) -> dict[str, JsonValue]:
    """Give everything about a run, its steps included."""
    where = standing(log, run)
    document = _document(where)
    document["steps"] = [_step(address, step) for address, step in _steps(log, where.state)]
    return document


def _steps(log: Log, state: RunState) -> list[tuple[str, StepState]]:
    """The steps of a run and of its items, in the order in which they began."""
    found = list(state.steps.items())
    for item in members(log, state.run):
        if item.own and item.run != state.run:
            own = state_of(log, item.run).steps.items()
            found += [(f"{item.via}{address}", step) for address, step in own if address.startswith(item.own)]
    return sorted(found, key=lambda each: (each[1].began_at, each[1].began))


def listed_documents(log: Log, run: str | None = None) -> list[dict[str, JsonValue]]:
    """Give runs without their steps, the newest first; one whose history is damaged shows what is known of it."""
    rows = log.summaries(Filter(prefix=run or ""))
    wanted = [row for row in rows if (row.key == run if run else row.document.get("parent") is None)]
    return [_listed(log, row) for row in by_start(wanted)]


def by_start(rows: list[Row]) -> list[Row]:
    """Order runs by when they began, the newest first."""
    return sorted(rows, key=lambda row: float(str(row.document.get("started_at") or 0)), reverse=True)


def exit_code(document: dict[str, JsonValue]) -> int:
    """Give the exit code that says how a run stands."""
    reason = document["reason"]
    match document["status"]:
        case "succeeded":
            return 0
        case "failed" | "cancelled":
            return 1
        case "waiting" if reason == "pause":
            return 130
        case _:
            return 5 if reason in BUDGETED else 3


@dataclass(frozen=True, slots=True)
class Line:
    """One run in a list: where it stands and what a person may do about it."""

    section: Section
    run: str
    step: str
    words: str
    next_step: str
    started_at: float
    cost: str = ""


def overview(log: Log) -> list[Line]:
    """Say of all runs that a person started what needs them, what runs and what ended, the newest first."""
    rows = {row.key: row for row in log.summaries(Filter())}
    lines = [_line(log, row, rows) for row in rows.values() if row.document.get("parent") is None]
    order = {"needs you": 0, "running": 1, "ended": 2}
    return sorted(lines, key=lambda line: (order[line.section], -line.started_at))


def one_line(log: Log, run: str) -> Line:
    """Say of one run where it stands."""
    rows = {row.key: row for row in log.summaries(Filter(prefix=root_of(run)))}
    return _line(log, rows[run], rows)


def _listed(log: Log, row: Row) -> dict[str, JsonValue]:
    try:
        return _document(standing(log, row.key))
    except StorageDamaged as error:
        known = dict(row.document)
        known.update(status="blocked", reason="fault", error=error.message, outputs={})
        known.update(started_at=iso(known.get("started_at")), completed_at=iso(known.get("completed_at")))
        return {key: known.get(key) for key in DOCUMENT}


def _document(where: Standing) -> dict[str, JsonValue]:
    state, acting = where.state, where.acting
    known = summary_of(state)
    known.update(status=acting.status, reason=acting.reason, outputs=outputs_of(state))
    known.update(started_at=iso(state.started_at), completed_at=iso(state.ended_at))
    known["error"] = acting.message if acting.status in ("failed", "blocked", "cancelled") else None
    return {key: known.get(key) for key in DOCUMENT}


def outputs_of(state: RunState) -> dict[str, JsonValue]:
    """Give what the steps of a run left under a name."""
    given = {spoken(name): value for name, value in state.inputs.items()}
    return {name: value for name, value in sorted(state.names.items()) if name not in given or given[name] != value}


def _step(address: str, step: StepState) -> dict[str, JsonValue]:
    return {"address": address, "status": step.status, "attempts": step.attempts, "output": step.output}


def _line(log: Log, row: Row, rows: dict[str, Row]) -> Line:
    at = _acting(row, rows)
    section, words, next_step = _said(log, at)
    step = str(row.document.get("current_step") or "")
    if section == "ended":
        step = ""
    started = float(str(row.document.get("started_at") or 0))
    return Line(section, row.key, step, words, next_step, started, _cost(row))


def _cost(row: Row) -> str:
    known, unpriced = row.document.get("cost"), row.document.get("unpriced")
    if not known:
        return "unknown cost" if unpriced else ""
    return ("~" if unpriced else "") + usd_words(float(str(known)))


def _acting(row: Row, rows: dict[str, Row]) -> Row:
    """The run itself, or the child that keeps it."""
    kept = [each for each in rows.values() if each.document.get("parent") == row.key]
    open_ones = [each for each in kept if each.document.get("status") in ("running", "waiting", "blocked")]
    if row.document.get("status") != "running" or not open_ones:
        return row
    acting = [_acting(each, rows) for each in open_ones]
    return next((each for each in acting if _needs_somebody(each)), acting[-1])


def _needs_somebody(row: Row) -> bool:
    known = row.document
    return known.get("status") == "blocked" or known.get("reason") in ("approval", "question", "pause")


def _said(log: Log, row: Row) -> tuple[Section, str, str]:
    known, run, root = row.document, row.key, root_of(row.key)
    message = str(known.get("message") or "")
    match known.get("status"):
        case "succeeded":
            return "ended", "succeeded", f"handrail show {run}"
        case "failed":
            return "ended", f"failed: {message}", f"handrail resume {run}"
        case "cancelled":
            return "ended", message or "stopped", f"handrail why {run}"
        case _ if known.get("held_by"):
            return "running", f"held by {known.get('held_by')}", f"handrail release {run}"
        case "blocked":
            return "needs you", f"needs you: {message}", f"handrail resume {root}"
        case "waiting":
            return _waiting(row, message)
        case _:
            return _running(log, run)


def _waiting(row: Row, message: str) -> tuple[Section, str, str]:
    reason, root = row.document.get("reason"), root_of(row.key)
    if reason == "approval":
        return "needs you", f"needs you: {message or 'approval'}", f"handrail approve {row.key}"
    if reason == "question":
        return "needs you", f"asks: {message}", f'handrail answer {row.key} "..."'
    if reason == "pause":
        return "needs you", "paused", f"handrail resume {root}"
    return "running", f"waiting until {iso(row.document.get('until'))}", f"handrail resume {root}"


def _running(log: Log, run: str) -> tuple[Section, str, str]:
    holder = log.holder(run)
    if holder is None:
        return "needs you", "interrupted: nobody drives it", f"handrail resume {root_of(run)}"
    return "running", f"running in process {holder.pid}", f"handrail logs {run}"

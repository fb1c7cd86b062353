"""A run as people and programs see it: one document, its state in a few words, and what the log holds of it."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from handrail.engine.state.budgets import run_limits
from handrail.errors import NotFound, StorageDamaged, StorageTooNew
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import ApprovalRequested
from handrail.model.history.run_lines import Filter, Row, fill_defaults
from handrail.model.history.run_state import RunState, StepState
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.run_tree import EffectiveState, find_acting_run
from handrail.operations.views.step_addresses import list_own_states, members, step_status
from handrail.ports.log import Holder, Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import events_of, plan_of, readable_state, state_of
from handrail.runtime.run_summary import summary_of

if TYPE_CHECKING:
    from handrail.operations.views import queue
else:
    queue = late_import("handrail.operations.views.queue")

__all__ = [
    "DOCUMENT",
    "LoggedRuns",
    "approval_data",
    "approval_of",
    "events_of",
    "exit_code",
    "iso",
    "outputs_of",
    "plan_of",
    "readable_state",
    "run_document",
    "run_limits",
    "state_of",
    "summary_document",
]

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
    "repository",
    "branch",
    "worktree",
    "parent",
    "root",
    "last_activity",
)
_USUAL = {"autonomy": "guided", "risk": "conservative"}
BUDGETED = frozenset({"quota", "budget"})


def iso(seconds: object) -> str | None:
    """Format a time as ISO 8601 in UTC."""
    if not isinstance(seconds, int | float):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_document(log: Log, run: str) -> dict[str, JsonValue]:
    """Return everything about a run, including its steps."""
    where = find_acting_run(log, run)
    document = _document(log, where)
    document["steps"] = [_step(*each) for each in _steps(log, where.state)]
    asks = {} if where.acting.pending is None else _question_data(log, where.acting)
    ended = where.state
    said = {"message": ended.message} if ended.status == "succeeded" and ended.message else {}
    rows: list[JsonValue] = [{"at": iso(at), "by": by, "command": command} for _, at, by, command in where.state.tried]
    return {
        **document,
        **said,
        **asks,
        **_autonomy_data(where.state),
        **({"tried": rows} if rows else {}),
        **({"git_changes": list(where.state.git_changes)} if where.state.git_changes else {}),
    }


def approval_of(log: Log, state: RunState) -> ApprovalRequested | None:
    """Return the approval for which a run waits, as it was requested."""
    if state.pending is None or state.pending.kind != "approval":
        return None
    asked = decode_event(log.read(state.run, after=state.pending.seq - 1, limit=1)[0])
    return asked if isinstance(asked, ApprovalRequested) else None


def approval_data(log: Log, state: RunState) -> dict[str, JsonValue] | None:
    """Convert the approval for which a run waits to JSON data: the question, what is shown, the possible answers."""
    asked = approval_of(log, state)
    if asked is None:
        return None
    revise: list[JsonValue] = ["revise"] if asked.revise and asked.revisions_left else []
    return {
        "run": state.run,
        "step": asked.address,
        "message": asked.message,
        "show": asked.show,
        "answers": ["approve", *revise, "reject"],
        "due": iso(asked.due),
    }


def _question_data(log: Log, state: RunState) -> dict[str, JsonValue]:
    asked = approval_data(log, state)
    return {} if asked is None else {"approval": asked}


def _autonomy_data(state: RunState) -> dict[str, JsonValue]:
    """Return how far a run continues alone, and what is missing although it did; only guided runs have it."""
    preferences: dict[str, JsonValue] = {"autonomy": state.autonomy, "risk": state.risk}
    said: dict[str, JsonValue] = {"preferences": preferences} if preferences != _USUAL else {}
    return {**said, "gaps": [dict(gap) for gap in state.gaps]} if state.gaps else said


def _steps(log: Log, state: RunState) -> list[tuple[str, StepState, str]]:
    """List the steps of a run and of its items with their state, in the order in which they began."""
    found: list[tuple[str, StepState, str]] = []
    for item, inner in list_own_states(log, members(log, state.run)):
        if item.own or item.run == state.run:
            steps = inner.steps.items()
            found += [(f"{item.via}{address}", step, step_status(inner, step)) for address, step in steps]
    return sorted(found, key=lambda each: (each[1].began_at, each[1].began))


def summary_document(log: Log, run: str) -> dict[str, JsonValue]:
    """Return a run without its steps; one whose history cannot be read shows what is known about it."""
    try:
        return _document(log, find_acting_run(log, run))
    except (StorageDamaged, StorageTooNew) as error:
        row = next(iter(log.summaries(Filter(key=run))), Row(run, 0, {}))
        known = fill_defaults(row.document)
        known.update(status="blocked", reason="fault", error=error.message, outputs={}, input={}, root=row.facts.root)
        known.update(started_at=iso(known.get("started_at")), completed_at=iso(known.get("completed_at")))
        return {key: known.get(key) for key in DOCUMENT}


def exit_code(document: dict[str, JsonValue]) -> int:
    """Return the exit code for the state of a run."""
    reason = document["reason"]
    match document["status"]:
        case "succeeded":
            return 0
        case "cancelled" if reason == "skipped":
            return 0
        case "failed" | "cancelled":
            return 1
        case "waiting" if reason == "pause":
            return 130
        case _:
            return 5 if reason in BUDGETED else 3


@frozen
class LoggedRuns:
    """The summaries of runs, from an open log."""

    log: Log

    def rows(self, wanted: Filter) -> tuple[Row, ...]:
        """Return the matching summaries."""
        return self.log.summaries(wanted)

    def count(self, wanted: Filter) -> int:
        """Count the matching runs."""
        return self.log.count(wanted)

    def holder(self, run: str) -> Holder | None:
        """Return the process that drives a run, or None."""
        return self.log.holder(run)

    def content(self, digest: str) -> bytes | None:
        """Return a content by its digest; None if it is gone."""
        try:
            return self.log.get_blob(digest)
        except (NotFound, StorageDamaged):
            return None


def _document(log: Log, where: EffectiveState) -> dict[str, JsonValue]:
    state, acting = where.state, where.acting
    known = {**fill_defaults(summary_of(state)), "input": dict(state.inputs), **_place(state)}
    known.update(root=state.family, last_activity=iso(_last_activity(log, state)))
    known.update(status=acting.status, reason=acting.reason, outputs=outputs_of(state))
    known.update(started_at=iso(state.started_at), completed_at=iso(state.ended_at))
    known["error"] = acting.message if acting.status in ("failed", "blocked", "cancelled") else None
    document: dict[str, JsonValue] = {key: known.get(key) for key in DOCUMENT}
    if state.issue:
        document["issue"] = state.issue
    if acting.status == "queued":
        document["queue"] = queue.queue_data(acting.run, log.summaries(Filter(statuses=queue.OPEN)))
    return document


def _place(state: RunState) -> dict[str, JsonValue]:
    """Return on which branch and in which worktree of its own a run works, if there is one."""
    place = state.tree or state.source
    worktree = state.tree.path if state.tree is not None and state.tree.owned else None
    return {"branch": None if place is None else place.branch or None, "worktree": worktree}


def _last_activity(log: Log, state: RunState) -> float:
    """Return when something was last recorded about a run or its child runs."""
    newest = () if state.parent is not None else log.summaries(Filter(root=state.run, limit=1))
    of = newest[0].key if newest else state.run
    last = log.read(of, after=log.last(of).seq - 1, limit=1)
    return decode_event(last[0]).at if last else state.started_at


def outputs_of(state: RunState) -> dict[str, JsonValue]:
    """Return the named outputs of the steps of a run."""
    given = {make_identifier(name): value for name, value in state.inputs.items()}
    return {name: value for name, value in sorted(state.names.items()) if name not in given or given[name] != value}


def _step(address: str, step: StepState, status: str) -> dict[str, JsonValue]:
    return {"address": address, "status": status, "attempts": step.attempts, "output": step.output}

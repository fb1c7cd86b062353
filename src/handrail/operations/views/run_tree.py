"""A run together with all its child runs, theirs included."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail.errors import LogConflict, NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.run_lines import Filter, Row
from handrail.model.history.run_state import RunState
from handrail.ports.log import Holder, Log
from handrail.runtime.history import find_parent_and_root, is_readable, state_of
from handrail.runtime.run_writer import RunWriter

if TYPE_CHECKING:
    from handrail.engine.composite import fan_out
else:
    fan_out = late_import("handrail.engine.composite.fan_out")


def root_of(log: Log, run: str) -> str:
    """Return the root of a run: the run that a person started, or itself."""
    return find_parent_and_root(log, run)[1]


def make_family_test(log: Log, run: str) -> Callable[[str], bool]:
    """Return a test for whether a run is that one or one of its child runs."""
    known = {run: True}

    def belongs(other: str) -> bool:
        if other in known:
            return known[other]
        parent, root = find_parent_and_root(log, other)
        if parent is None:
            return False
        known[other] = root == run or (root != other and belongs(parent))
        return known[other]

    return belongs


def family(log: Log, run: str) -> tuple[str, ...]:
    """List a run and its descendants, parents before their children, each generation in the order of its start."""
    rows = family_rows(log, run)
    children: dict[str | None, list[str]] = {}
    for key, row in rows.items():
        children.setdefault(row.facts.parent, []).append(key)
    found = [run]
    for each in found:
        found += children.get(each, ())
    return tuple(each for each in found if each in rows)


def family_rows(log: Log, run: str) -> dict[str, Row]:
    """Return the summaries of all runs with the same root, in the order of their creation."""
    return {row.key: row for row in log.summaries(Filter(root=root_of(log, run), order="made"))}


@frozen
class EffectiveState:
    """The real state of a run: one that waits for a child is in the state of the child."""

    state: RunState
    acting: RunState
    """The run in the family that decides: itself, or the child that it waits for."""


def find_acting_run(log: Log, run: str) -> EffectiveState:
    """Find the real state of a run."""
    state = state_of(log, run)
    acting = state
    while acting.status == "running":
        children = [child for each in _runs_waited_for(acting) if (child := _open(log, each)) is not None]
        if not children:
            break
        acting = next((child for child in children if _needs_somebody(log, child)), children[0])
    return EffectiveState(state, acting)


def _runs_waited_for(state: RunState) -> tuple[str, ...]:
    """List the runs that a run waits for: a called workflow, or the items of a fan-out."""
    if state.pending is None:
        return ()
    return fan_out.running_items(state) if state.pending.kind == "items" else (state.pending.child,)


def _open(log: Log, run: str) -> RunState | None:
    try:
        state = state_of(log, run)
    except NotFound:
        return None
    return None if state.status in ("succeeded", "failed", "cancelled") else state


def _needs_somebody(log: Log, state: RunState) -> bool:
    at = find_acting_run(log, state.run).acting
    return at.status == "blocked" or (at.status == "waiting" and at.reason in ("approval", "question", "pause"))


def find_run_awaiting_approval(log: Log, run: str) -> RunState | None:
    """Return the run of the family that waits for an approval, even if it was not answered in time."""
    acting = find_acting_run(log, run).acting
    late = acting.status == "blocked" and acting.pending is not None and acting.pending.kind == "approval"
    return acting if late or (acting.status == "waiting" and acting.reason == "approval") else None


def find_run_awaiting_answer(log: Log, run: str) -> RunState | None:
    """Return the run of the family whose agent waits for a text answer."""
    acting = find_acting_run(log, run).acting
    return acting if acting.status == "waiting" and acting.reason == "question" else None


def holder_of(log: Log, run: str) -> Holder | None:
    """Return the process that drives a run or one of its descendants, or None."""
    return next((found for each in family(log, run) if (found := log.holder(each)) is not None), None)


def holder_words(holder: Holder) -> str:
    """Describe who drives a run: `handrail run (process 4711 on box)`."""
    return f"{holder.name} (process {holder.pid} on {holder.host})"


def refuse_if_driven(log: Log, run: str) -> None:
    """Refuse to drive a run that another process drives, and say which."""
    holder = holder_of(log, run)
    if holder is not None:
        raise LogConflict(f"{run} is driven by {holder_words(holder)}", next_step=f"handrail status {run}")


def pause(writer: RunWriter, run: str) -> None:
    """Ask whoever drives the family to pause all of it; each run is asked once at each point of its history."""
    log = writer.log
    rows = family_rows(log, run)
    for each in family(log, run):
        row = rows[each]
        if row.document.get("status") in ("running", "queued") or row.document.get("reason") in ("timer", "quota"):
            writer.send(each, f"pause:{row.position}:{log.last(each).seq}", "pause")


def tell_family(writer: RunWriter, run: str, kind: str, by: str, **more: str) -> None:
    """Send the same message to every descendant that has not ended."""
    for each in family(writer.log, run):
        if each != run and not (is_readable(writer.log, each) and state_of(writer.log, each).is_over):
            writer.send(each, f"{kind}:{time.time_ns()}", kind, by=by, **more)

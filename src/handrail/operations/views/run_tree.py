"""A run together with the runs that its steps started, theirs included."""

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.run_lines import root_of
from handrail.model.history.run_state import RunState
from handrail.ports.log import Filter, Holder, Log
from handrail.runtime.history import is_readable, state_of
from handrail.runtime.run_writer import RunWriter

if TYPE_CHECKING:
    from handrail.engine.composite import fan_out
else:
    fan_out = late_import("handrail.engine.composite.fan_out")

__all__ = [
    "Standing",
    "asking",
    "belongs_to",
    "family",
    "held_words",
    "holder_of",
    "pause",
    "questioning",
    "root_of",
    "standing",
    "tell_family",
]
DESCENDANT = re.compile(r"(\.[0-9]+)+", re.ASCII)
"""A child's id is its parent's, a dot, and the event that started it; no workflow's own id ends that way."""


def belongs_to(run: str) -> Callable[[str], bool]:
    """Give a test of whether an id is that run or comes from it."""
    return lambda other: (
        other == run or (other.startswith(run) and DESCENDANT.fullmatch(other.removeprefix(run)) is not None)
    )


def family(log: Log, run: str) -> tuple[str, ...]:
    """Name a run and its descendants, parents before their children, each generation as it was started."""
    ours = belongs_to(run)
    found = [row.key for row in log.summaries(Filter(prefix=run)) if ours(row.key)]
    numbers = {key: [int(part) for part in key.removeprefix(run).split(".")[1:]] for key in found}
    return tuple(sorted(found, key=lambda key: (len(numbers[key]), numbers[key])))


@frozen
class Standing:
    """Where a run really stands: one that waits for a child stands where the child does."""

    state: RunState
    acting: RunState
    """The run in the family that decides: itself, or the child at which it stands."""


def standing(log: Log, run: str) -> Standing:
    """Find where a run stands."""
    state = state_of(log, run)
    acting = state
    while acting.status == "running":
        children = [child for each in _awaited(acting) if (child := _open(log, each)) is not None]
        if not children:
            break
        acting = next((child for child in children if _needs_somebody(log, child)), children[0])
    return Standing(state, acting)


def _awaited(state: RunState) -> tuple[str, ...]:
    """The runs that a run waits for: a called workflow, or the items of a fan-out."""
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
    at = standing(log, state.run).acting
    return at.status == "blocked" or (at.status == "waiting" and at.reason in ("approval", "question", "pause"))


def asking(log: Log, run: str) -> RunState | None:
    """Give the run of the family that waits for an approval, also where it was not answered in time."""
    acting = standing(log, run).acting
    late = acting.status == "blocked" and acting.pending is not None and acting.pending.kind == "approval"
    return acting if late or (acting.status == "waiting" and acting.reason == "approval") else None


def questioning(log: Log, run: str) -> RunState | None:
    """Give the run of the family whose agent waits for an answer in words."""
    acting = standing(log, run).acting
    return acting if acting.status == "waiting" and acting.reason == "question" else None


def holder_of(log: Log, run: str) -> Holder | None:
    """Say which process drives a run or one of its descendants."""
    return next((found for each in family(log, run) if (found := log.holder(each)) is not None), None)


def held_words(holder: Holder) -> str:
    """Say who drives a run: `handrail run (process 4711 on box)`."""
    return f"{holder.name} (process {holder.pid} on {holder.host})"


def pause(writer: RunWriter, run: str) -> None:
    """Ask whoever drives to pause the whole family; each is asked once at each point of its history."""
    log = writer.log
    for row in log.summaries(Filter(prefix=run)):
        moves = row.document.get("status") in ("running", "queued") or row.document.get("reason") in ("timer", "quota")
        if belongs_to(run)(row.key) and moves:
            writer.send(row.key, f"pause:{row.position}:{log.last(row.key).seq}", "pause")


def tell_family(writer: RunWriter, run: str, kind: str, by: str) -> None:
    """Send every descendant that is not over the same word."""
    for each in family(writer.log, run):
        if each != run and not (is_readable(writer.log, each) and state_of(writer.log, each).over):
            writer.send(each, f"{kind}:{time.time_ns()}", kind, by=by)

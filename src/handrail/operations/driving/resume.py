"""Finds the runs that can continue, and lets them continue, children included."""

from handrail.errors import StorageDamaged, StorageTooNew, UsageError
from handrail.model.actors import actor_words
from handrail.model.history.run_lines import UNREADABLE, Filter, Row
from handrail.model.history.run_state import RunState, StepState
from handrail.operations.runs.lifecycle import release, resume, stop
from handrail.operations.views.run_document import iso
from handrail.operations.views.run_tree import family, find_acting_run, tell_family
from handrail.operations.views.step_addresses import members
from handrail.ports.log import Log
from handrail.runtime.history import state_of
from handrail.runtime.run_writer import RunWriter


def list_resumable_runs(log: Log) -> list[str]:
    """List the runs that `resume` would move, the newest first; only open runs are folded."""
    wanted = Filter(statuses=("queued", "running", "waiting", "blocked", "failed"), top=True, order="started")
    return [row.key for row in log.summaries(wanted) if _can_go_on(log, row)]


def _can_go_on(log: Log, row: Row) -> bool:
    if row.document.get("status") == "failed":
        return not row.document.get(UNREADABLE) and log.holder(row.key) is None
    try:
        at = find_acting_run(log, row.key).acting
    except (StorageDamaged, StorageTooNew):
        return False
    if log.holder(at.run) is not None:
        return False
    return _is_resumable(at) or (at.status in ("running", "queued") and not at.held_by)


def _is_resumable(state: RunState) -> bool:
    """Whether a resume lets a run continue, whoever holds it."""
    return state.status in ("blocked", "failed") or state.reason in ("pause", "timer", "quota")


def resume_family(writer: RunWriter, run: str, by: str) -> None:
    """Let a run and its children continue; what somebody holds stays with its holder."""
    log = writer.log
    held = next((state for each in family(log, run) if _is_held(state := state_of(log, each))), None)
    if held is not None and not _is_resumable(held):
        way = "approve" if held.reason == "approval" else "release"
        raise UsageError(f"{held.run} is held by {actor_words(held.held_by)}", next_step=f"handrail {way} {held.run}")
    resume(writer, run, by)
    for each in family(log, run)[1:]:
        # A child that failed was already answered for; its step begins a new one.
        if state_of(log, each).status in ("waiting", "blocked"):
            resume(writer, each, by)


def _is_held(state: RunState) -> bool:
    return bool(state.held_by) and (state.parent is None or state.status not in ("succeeded", "failed", "cancelled"))


def stop_family(writer: RunWriter, run: str, by: str, why: str = "") -> None:
    """Stop a run and its children for good, with the reason if there is one."""
    stop(writer, run, by, why)
    tell_family(writer, run, "stop", by, why=why)


def release_family(writer: RunWriter, run: str, by: str) -> tuple[str, ...]:
    """Hand a run and its children back to the engine; return those that were held."""
    held = tuple(each for each in family(writer.log, run) if _is_held(state_of(writer.log, each)))
    for each in held or (run,):
        release(writer, each, by)
    return held


def describe_progress(log: Log, run: str) -> str:
    """Describe what is done and not repeated, or what the run still waits for."""
    state = state_of(log, run)
    waits = state.failure if state.reason == "pause" else None
    if waits is not None and waits.retry_at:
        return f"{run}: try {waits.attempt + 1} of {waits.address} follows at {iso(waits.retry_at)}"
    inner = [address for address, step in state.steps.items() if _is_done(step) and "/" not in address]
    done = [*sorted(inner, key=lambda address: state.steps[address].began), *_items_done(log, run, inner)]
    if not done:
        return f"{run}: starts over"
    shown = ", ".join(done[-6:])
    more = f"{len(done) - 6} more and " if len(done) > 6 else ""
    return f"{run}: {more}{shown} {'is' if len(done) == 1 else 'are'} done and not repeated"


def _items_done(log: Log, run: str, steps: list[str]) -> list[str]:
    """List the finished items of an unfinished fan-out: `build[auth]`."""
    items = [each for each in members(log, run) if each.own and each.whole.partition("[")[0] not in steps]
    return [each.whole for each in items if state_of(log, each.run).status == "succeeded"]


def _is_done(step: StepState) -> bool:
    sent_back = isinstance(step.output, dict) and step.output.get("decision") == "revise"
    return step.status == "succeeded" and not sent_back

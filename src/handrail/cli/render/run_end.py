"""The state of a run when it is no longer watched: one or two lines, where the work is, and the next command."""

import time
from typing import TYPE_CHECKING

from handrail.cli.render.step_rows import local_time
from handrail.late_import import late_import
from handrail.model.actors import actor_words
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.costs import run_duration
from handrail.operations.views.money import duration, price_words
from handrail.operations.views.overview import usd_words
from handrail.operations.views.run_document import plan_of, run_limits
from handrail.operations.views.run_tree import find_acting_run, holder_of, holder_words
from handrail.wiring.session import Session

if TYPE_CHECKING:
    from handrail.operations.views import history, kept_work, prepared
else:
    history = late_import("handrail.operations.views.history")
    kept_work = late_import("handrail.operations.views.kept_work")
    prepared = late_import("handrail.operations.views.prepared")

MAX_DENIED = 3
"""The number of steps whose denied tools are named."""


def final_lines(session: Session, run: str, document: dict[str, JsonValue]) -> list[str]:
    """Describe the state of a run, what its agents were started without, and the next command."""
    first, *more = _status_lines(session, run, document)
    return [first, *_trust_warning_lines(session, run), *more]


def _trust_warning_lines(session: Session, run: str) -> list[str]:
    """Explain why hooks and servers of the repository did not run."""
    found = history.list_left_out_files(session.log, run)
    advice = "you have not trusted them, see handrail trust --help"
    return [f"  started without {files} ({steps}): {advice}" for files, steps in found.items()]


def _status_lines(session: Session, run: str, document: dict[str, JsonValue]) -> list[str]:
    where = find_acting_run(session.log, run)
    at = where.acting
    match document["status"]:
        case "succeeded":
            return _success_lines(session, run)
        case "failed":
            next_step = f"next: handrail why {run}, or handrail resume {run}"
            return [f"{run} failed: {document['error']}", *_safe_work_lines(session, where.state), next_step]
        case "cancelled":
            return [f"{run} {document['error'] or 'stopped'}", *_safe_work_lines(session, where.state)]
        case "blocked":
            hint = [f"  {at.next_step}"] if at.next_step else []
            next_step = f"next: handrail resume {where.state.family}"
            return [f"{run} needs you: {at.message}", *hint, *_safe_work_lines(session, where.state), next_step]
        case "waiting":
            return _wait_lines(session, run, at, str(document["current_step"]))
        case _:
            return _idle_lines(session, run, at)


def _wait_lines(session: Session, run: str, at: RunState, step: str) -> list[str]:
    match at.reason:
        case "approval":
            answers = f"handrail approve {at.run}, or revise, or reject"
            return [f"{run} needs you: {at.message or 'approval'}", f"next: {answers}"]
        case "question":
            return [f"{run} needs you: {at.message}", f'next: handrail answer {at.run} "..."']
        case "pause":
            return [f"paused {run} at {step}", f"next: handrail resume {run}"]
        case _:
            return _idle_lines(session, run, at)


def _success_lines(session: Session, run: str) -> list[str]:
    """Describe what the run cost, and what can be done with its changes."""
    state = find_acting_run(session.log, run).state
    price = price_words(state.spent)
    most = run_limits(plan_of(session.log, state.plan), state).get("usd")
    of = f" of {usd_words(most)}" if price and most is not None else ""
    took = [duration(run_duration(session.log, state)), f"{price}{of}"] if price else []
    next_step = f"next: handrail diff {run} --stat, then apply, merge or discard it"
    done = " · ".join([f"{run} succeeded", *took])
    said = [f"  {state.message}"] if state.message else []
    told = [*said, *_preparation_lines(session, state), *_gaps(state), *_denial_lines(session, run)]
    return [done, *told, *([next_step] if state.tree is not None else [])]


def _preparation_lines(session: Session, state: RunState) -> list[str]:
    """List what steps have prepared, with the command that completes it."""
    found = prepared.find_prepared_steps(session.log, state)
    return [f"  {address}: {said}" for address, said in found.items()]


def _gaps(state: RunState) -> list[str]:
    """Mention what was missing although the run continued."""
    count = len(state.open_gaps)
    return [f"  {count} gap{'' if count == 1 else 's'}: see handrail show {state.run}"] if count else []


def _denial_lines(session: Session, run: str) -> list[str]:
    """List which agents were denied something: not everything they were asked for may be there."""
    found = history.denials(session.log, run)
    more = f" and {len(found) - MAX_DENIED} more, see handrail why {run}" if len(found) > MAX_DENIED else ""
    return [f"  denied: {', '.join(found[:MAX_DENIED])}{more}"] if found else []


def _safe_work_lines(session: Session, state: RunState) -> list[str]:
    kept = kept_work.find_kept_work(session.machine.repositories, state)
    return [] if kept is None else [f"  {kept.words}"]


def _idle_lines(session: Session, run: str, at: RunState) -> list[str]:
    if at.held_by:
        goes_on = f"{run} continues with {actor_words(at.held_by)}, which has the next step"
        return [goes_on, f"next: handrail release {at.run}"]
    holder = holder_of(session.log, run)
    if at.status == "queued":
        return [f"{run} is {at.message or 'queued'}", f"next: handrail status {run}"]
    if holder is not None:
        return [f"{run} is driven by {holder_words(holder)}", f"next: handrail status {run}"]
    if at.until is not None:
        return [f"{run} is waiting until {local_time(at.until, time.time())}", f"next: handrail resume {run}"]
    return [f"{run} has not ended", f"next: handrail resume {run}"]

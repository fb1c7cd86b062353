"""Finds and repairs damage to runs: truncates what cannot be read, and rebuilds lists and timers from the rest."""

import math
from collections import Counter

from handrail.errors import HandrailError, NotFound, StorageDamaged
from handrail.model.history.run_lines import UNREADABLE, Filter, Row, facts_of, is_run
from handrail.model.history.run_state import RunState
from handrail.ports.log import Append, Holder, Log, TimerCleared, TimerSet
from handrail.ports.log_care import Finding, TruncatedStream
from handrail.runtime.history import plan_of, state_of
from handrail.runtime.run_summary import summary_of, timers_of

OVER = ("succeeded", "cancelled")
_GONE = "is missing; start the same workflow again, unchanged, to restore it"


def examine_runs(log: Log) -> tuple[Finding, ...]:
    """Report the runs that cannot be read, missing rows and plans, and what waits for runs that do not exist."""
    lines = {row.key: row.document for row in log.summaries(Filter())}
    found: list[Finding] = []
    plans: dict[tuple[str, str], list[str]] = {}
    for run in runs_in(log):
        state = _read(log, run, found)
        if state is None:
            continue
        line = lines.get(run)
        if line is None or line.get(UNREADABLE):
            found.append(Finding("run", run, str((line or {}).get("message") or "it is missing from lists")))
        wrong = "" if state.status in OVER else _plan_problem(log, state.plan)
        if wrong:
            plans.setdefault((state.plan, wrong), []).append(run)
    found += [Finding("blob", plan, f"the plan of {', '.join(runs)} {wrong}") for (plan, wrong), runs in plans.items()]
    return (*found, *_orphans(log))


def runs_in(log: Log) -> tuple[str, ...]:
    """List the runs of a log."""
    return tuple(filter(is_run, log.streams()))


def _read(log: Log, run: str, found: list[Finding]) -> RunState | None:
    try:
        return state_of(log, run)
    except StorageDamaged as error:
        found.append(Finding("run", run, error.message, error.intact))
    except HandrailError as error:
        found.append(Finding("run", run, error.message))
    return None


def _orphans(log: Log) -> list[Finding]:
    """Report messages and timers of runs that do not exist; other streams are not judged here."""
    waiting = [(stream, len(log.inbox(stream))) for stream in log.pending_streams() if _is_absent(log, stream)]
    timers = Counter(timer.stream for timer in log.due(math.inf) if _is_absent(log, timer.stream))
    return [
        *(Finding("inbox", run, f"{count} messages for a run that does not exist") for run, count in waiting),
        *(Finding("timer", run, f"{count} timers of a run that does not exist") for run, count in timers.items()),
    ]


def _is_absent(log: Log, stream: str) -> bool:
    return is_run(stream) and log.last(stream).seq == 0


def cut_unreadable(log: Log, only: str | None = None) -> tuple[TruncatedStream, ...]:
    """Truncate runs to the events that can be read; those that only a newer Handrail reads are left alone."""
    cuts = (_cut(log, run) for run in runs_in(log) if only is None or run == only)
    return tuple(cut for cut in cuts if cut is not None)


def _cut(log: Log, run: str) -> TruncatedStream | None:
    try:
        state_of(log, run)
    except StorageDamaged as error:
        return _cut_under_lease(log, run, error.intact) if error.stream == run else None
    except HandrailError:
        return None
    return None


def _cut_under_lease(log: Log, run: str, keep: int) -> TruncatedStream | None:
    lease = log.acquire(run, "handrail doctor")
    if isinstance(lease, Holder):
        return None
    try:
        return log.cut(lease, keep)
    finally:
        log.release(lease)


def drop_orphans(log: Log) -> None:
    """Remove what waits for runs that do not exist; the messages stay in the log as consumed."""
    for stream in log.pending_streams():
        if _is_absent(log, stream):
            log.append([Append(stream, 0, consumed=tuple(each.id for each in log.inbox(stream)))], [])
    for timer in log.due(math.inf):
        if _is_absent(log, timer.stream):
            log.append([Append(timer.stream, 0, timers=(TimerCleared(timer.key),))], [])


def repair_lists(log: Log, only: str | None = None) -> None:
    """Update the row and the timers of each run to match its history."""
    listed = {row.key: row for row in log.summaries(Filter())}
    timers = {(each.stream, each.key, each.due) for each in log.due(math.inf)}
    for run in runs_in(log):
        if only is not None and run != only:
            continue
        try:
            state = state_of(log, run)
        except HandrailError:
            # The findings already report what is still wrong with it.
            continue
        if not _is_listed(log, listed.get(run), state) or not timers.issuperset(_find_due_timers(state)):
            _write(log, state)


def _is_listed(log: Log, row: Row | None, state: RunState) -> bool:
    """Whether a run is listed, and found in lists, as its history says."""
    summary = summary_of(state)
    if row is None or row.document != summary or row.facts != facts_of(state.run, summary):
        return False
    return log.count(Filter(key=state.run, status=state.status)) == 1


def _plan_problem(log: Log, digest: str) -> str:
    try:
        plan_of(log, digest)
    except StorageDamaged as error:
        return _GONE if isinstance(error.__cause__, NotFound) else "cannot be read"
    return ""


def _find_due_timers(state: RunState) -> set[tuple[str, str, float]]:
    return {(state.run, each.key, each.due) for each in timers_of(state, state) if isinstance(each, TimerSet)}


def _write(log: Log, state: RunState) -> None:
    lease = log.acquire(state.run, "handrail doctor")
    if isinstance(lease, Holder):
        # Whoever drives it writes both with its next commit.
        return
    try:
        log.append([Append(state.run, state.seq, timers=timers_of(state, state), summary=summary_of(state))], [lease])
    finally:
        log.release(lease)

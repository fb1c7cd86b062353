"""What damage does to runs: plans that are lost are named; lists and timers are made again from what is left."""

import math

from handrail.errors import HandrailError, NotFound, StorageFault
from handrail.model.history.run_state import RunState
from handrail.ports.log import Append, Filter, Holder, Log, TimerSet
from handrail.ports.log_care import Finding
from handrail.runtime.history import state_of
from handrail.runtime.run_summary import summary_of, timers_of

OVER = ("succeeded", "cancelled")


def mend_lists(log: Log) -> None:
    """Let each run be listed as its history has it, and wake it when its history says."""
    if unreadable_lists(log):
        log.forget_summaries()
    listed = {row.key: row.document for row in log.summaries(Filter())}
    timers = {(each.stream, each.key, each.due) for each in log.due(math.inf)}
    for run in log.streams():
        try:
            state = state_of(log, run)
        except HandrailError:
            # What is still wrong with it is among the findings.
            continue
        if listed.get(run) != summary_of(state) or not timers.issuperset(_wanted(state)):
            _write(log, state)


def unreadable_lists(log: Log) -> tuple[Finding, ...]:
    """Say whether the list of runs is damaged; it can be made again."""
    try:
        log.summaries(Filter())
    except StorageFault as error:
        return (Finding("database", "the list of runs", error.message),)
    return ()


def lost_plans(log: Log) -> tuple[Finding, ...]:
    """Name the plans that are gone although a run needs them to go on."""
    needed: dict[str, list[str]] = {}
    for run in log.streams():
        state = state_of(log, run)
        if state.status not in OVER and not _is_kept(log, state.plan):
            needed.setdefault(state.plan, []).append(run)
    back = "starting the same workflow again, unchanged, brings it back"
    return tuple(
        Finding("blob", digest, f"the plan of {', '.join(found)} is gone; {back}") for digest, found in needed.items()
    )


def _is_kept(log: Log, digest: str) -> bool:
    try:
        log.get_blob(digest)
    except NotFound:
        return False
    return True


def _wanted(state: RunState) -> set[tuple[str, str, float]]:
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

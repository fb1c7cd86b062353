"""Admits runs: a driver asks here whether a run may go on, and holds its place for as long as it drives the run.

1. A place is a lease named after the tree of runs (`place:fix-1`): it ends with the process, however that ends. So does
the lease under which a run takes its key (`key:fix-1`), which is held until the admission is recorded.
2. The log says who has a key: an admitted run has it until it is over. A decision that is not recorded yet is visible
through the lease.
3. One process decides at a time, behind a gate that nobody holds for longer than one decision. A process that cannot
get through leaves the run where it is, and asks again.
4. A question asked without the gate (`select_admissible`) is only a reason to ask again behind it.
"""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from handrail.engine.state.admission import AdmissionCandidate, Verdict, is_circular, judge
from handrail.model.codec import decode
from handrail.model.history.events import Admission, Event, RunAdmitted, RunEnded, RunQueued
from handrail.model.history.run_lines import Filter, Row
from handrail.model.history.run_state import RunState
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.history import RootFinder
from handrail.runtime.run_writer import RunWriter

GATE = "admission:gate"
PLACE, KEY = "place:", "key:"
OPEN = ("queued", "running", "waiting", "blocked")
_TRIES, _PAUSE = 100, 0.002
MAX_NAMED = 3
"""How many of the runs ahead in the queue are named."""


@dataclass(slots=True)
class AdmissionSlots:
    """The places and keys that this process holds for the runs it drives."""

    log: Log
    name: str
    _places: dict[str, Lease] = field(default_factory=dict[str, Lease])
    _keys: dict[str, Lease] = field(default_factory=dict[str, Lease])
    _roots: RootFinder = field(init=False)

    def __post_init__(self) -> None:
        self._roots = RootFinder(self.log)

    def admit(self, writer: RunWriter, state: RunState, now: float) -> tuple[Event, ...]:
        """Return the event to record before a run goes on (admitted, queued, skipped), if it is not in mid-work."""
        if not self._needs_admission(state):
            return ()
        gate = self._acquire_gate()
        if gate is None:
            return self._record_queued(state, Verdict("place"), now)
        try:
            return self._decide(writer, state, now)
        finally:
            self.log.release(gate)

    def _needs_admission(self, state: RunState) -> bool:
        if state.status == "queued":
            return True
        if state.status != "running":
            return False
        # An imported run may be let go while it stands in a workflow that it called.
        works = state.pending is None or state.pending.kind == "step"
        return not state.admitted or (works and _needs_place(state) and state.family not in self._places)

    def _acquire_gate(self) -> Lease | None:
        for _ in range(_TRIES):
            found = self.log.acquire(GATE, self.name)
            if isinstance(found, Lease):
                return found
            time.sleep(_PAUSE)
        return None

    def _decide(self, writer: RunWriter, state: RunState, now: float) -> tuple[Event, ...]:
        mine = _claimant(self.log, state)
        known = [each for each in claimants(self.log) if each.run != state.run]
        verdicts = judge([*known, mine])
        verdict = verdicts[state.run]
        if verdict.can_go and self._take(state):
            is_news = state.status == "queued" or not state.admitted
            return (RunAdmitted(waited=state.status == "queued" and bool(state.message), at=now),) if is_news else ()
        if verdict.waits_for == "key" and _is_new(state):
            how = mine.admission.if_running
            if how == "skip":
                return (_skip_run(state, verdict, now),)
            if how == "stop_old":
                _stop(writer, state, known, mine)
        if state.parent is not None and is_circular([*known, mine], verdicts, state.run):
            other = verdict.behind[0]
            message = f"{other} holds the key that this run needs, and is itself waiting for a key of {state.family}"
            return (RunEnded(status="failed", message=f"deadlock: {message}", at=now),)
        return self._record_queued(state, verdict, now)

    def _take(self, state: RunState) -> bool:
        """Take the leases that stand for a decision; False where another process has one that the log says is free."""
        run, root = state.run, state.family
        if _needs_place(state) and root not in self._places:
            found = self.log.acquire(f"{PLACE}{root}", self.name)
            if isinstance(found, Lease):
                self._places[root] = found
        if not state.admitted and run not in self._keys:
            found = self.log.acquire(f"{KEY}{run}", self.name)
            if isinstance(found, Holder):
                return False
            self._keys[run] = found
        return True

    def _record_queued(self, state: RunState, verdict: Verdict, now: float) -> tuple[Event, ...]:
        if state.status == "queued" and (state.message or not verdict.behind):
            return ()
        message = queue_words(state.admission or Admission(), verdict)
        return (RunQueued(message=message, behind=verdict.behind, at=now),)

    def settle(self, run: str) -> None:
        """Release what was held until a run's admission was recorded."""
        lease = self._keys.pop(run, None)
        if lease is not None:
            self.log.release(lease)

    def keep(self, busy: Iterable[str]) -> bool:
        """Release the places of all trees of runs in which nothing is driven any more; return whether any existed."""
        if not self._places:
            return False
        active = set(map(self._roots, busy))
        idle = [each for each in self._places if each not in active]
        for root in idle:
            self.log.release(self._places.pop(root))
        return bool(idle)


def _needs_place(state: RunState) -> bool:
    return state.admission is not None and bool(state.admission.places) and not state.held_by


def _is_new(state: RunState) -> bool:
    """Whether a run has just been started; one that a person resumes waits for its turn."""
    return state.queued == 1 and state.forked_from is None


def _claimant(log: Log, state: RunState) -> AdmissionCandidate:
    """Describe the run that asks; its position is where it entered the queue, or the end of it."""
    order = _position(log, state.run, state.queued) if state.queued else float("inf")
    return AdmissionCandidate(
        state.run,
        state.family,
        state.admission or Admission(),
        order,
        is_queued=True,
        has_key=state.admitted,
        has_place=bool(_needs_place(state)) and log.holder(f"{PLACE}{state.family}") is not None,
        needs_place=_needs_place(state),
    )


def _position(log: Log, run: str, seq: int) -> float:
    found = log.read(run, after=seq - 1, limit=1)
    return float(found[0].position) if found else 0.0


def claimants(log: Log) -> tuple[AdmissionCandidate, ...]:
    """List all unfinished runs that others may have to wait for, or that wait themselves."""
    return tuple(
        _claimant_from_row(log, row) for row in log.summaries(Filter(statuses=OPEN)) if row.document.get("admission")
    )


def _claimant_from_row(log: Log, row: Row) -> AdmissionCandidate:
    line = row.document["admission"]
    about = line if isinstance(line, dict) else {}
    admission = decode(Admission, about.get("needs") or {})
    seq, root = int(str(about.get("queued") or 0)), row.facts.root or row.key
    needs_place = bool(admission.places) and not row.document.get("held_by")
    queued = row.document.get("status") == "queued"
    # Another process has decided, and not recorded it yet.
    deciding = queued and bool(admission.key) and log.holder(f"{KEY}{row.key}") is not None
    return AdmissionCandidate(
        row.key,
        root,
        admission,
        _position(log, row.key, seq) if seq else 0.0,
        is_queued=queued,
        has_key=bool(about.get("admitted")) or deciding,
        has_place=needs_place and log.holder(f"{PLACE}{root}") is not None,
        needs_place=needs_place,
    )


def select_admissible(log: Log, runs: Collection[str]) -> frozenset[str]:
    """Return the queued runs whose turn it seems to be; their drivers ask again, behind the gate."""
    if not runs:
        return frozenset()
    return frozenset(run for run, verdict in judge(claimants(log)).items() if verdict.can_go and run in runs)


def queue_words(admission: Admission, verdict: Verdict) -> str:
    """Describe what a queued run waits for, and behind which runs."""
    names = ", ".join(verdict.behind[:MAX_NAMED])
    more = len(verdict.behind) - MAX_NAMED
    names += f" and {more} more" if more > 0 else ""
    if verdict.waits_for == "key":
        return f"queued behind {names}: same concurrency key '{admission.key}'"
    most = min((most for _, most in admission.places), default=0)
    return f"queued behind {names}: at most {most} run at once (max_concurrent_instances)" if names else "queued"


def _skip_run(state: RunState, verdict: Verdict, now: float) -> RunEnded:
    key = "" if state.admission is None else state.admission.key
    other = verdict.behind[0]
    message = f"skipped: {other} has the same concurrency key '{key}' and is still running (if_running: skip)"
    return RunEnded(status="cancelled", reason="skipped", message=message, at=now)


def _stop(writer: RunWriter, state: RunState, known: Iterable[AdmissionCandidate], mine: AdmissionCandidate) -> None:
    """Ask the runs that have the key, or came before, to stop; each is asked only once."""
    for each in known:
        same = each.key == mine.key and each.root != mine.root
        if same and (each.has_key or each.order < mine.order):
            writer.send(each.run, f"stop_for:{state.run}", "stop_for", run=state.run, key=mine.admission.key)

"""The work of a run, step by step, as the log knows it: the snapshots around each step."""

from handrail.engine.fold.apply import apply
from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.history.events import Event, WorkspaceReady
from handrail.model.history.run_state import RunState
from handrail.ports.log import Log
from handrail.runtime.history import events_of, state_before


@frozen(kw_only=True)
class StepWork:
    """What happened to a worktree in one step, or when it was made."""

    run: str
    snapshot: str
    before: str
    """The snapshot on which it was done; empty at the start of a run of its own."""
    source: str = ""
    """At the start: the snapshot that was put on top of the commit."""
    address: str = ""
    """The step; empty at the start."""
    began: int = 0
    """The event that made the step pending."""
    began_at: float = 0.0
    ended: int = 0
    ended_at: float = 0.0


@frozen
class RunWork:
    """All of it, in order."""

    run: str
    base: str
    """The branch that the run started from."""
    start: str
    """The commit that it started from."""
    steps: tuple[StepWork, ...]

    def find(self, snapshot: str) -> StepWork | None:
        """Find what a snapshot was taken after."""
        return next((each for each in self.steps if each.snapshot == snapshot), None)


def read_run_work(log: Log, run: str) -> RunWork | None:
    """Read the work of a run; None if the log has no such run, or cannot read it."""
    try:
        return _collect(log, run)
    except HandrailError:
        return None


def _collect(log: Log, run: str) -> RunWork | None:
    state: RunState | None = None
    found: dict[str, StepWork] = {}
    for seq, event in events_of(log, run):
        after = apply(state, event, seq, log.get_blob)
        work = None if state is None else _work_of(log, (state, after), seq, event)
        if work is not None:
            # A snapshot that is there again was restored: it belongs to whom it belonged before.
            found.setdefault(work.snapshot, work)
        state = after
    if state is None:
        return None
    tree = state.tree
    base, start = (tree.base, tree.commit) if tree is not None else ("", "")
    return RunWork(run, base, start, tuple(found.values()))


def _work_of(log: Log, states: tuple[RunState, RunState], seq: int, event: Event) -> StepWork | None:
    before, after = states
    if not after.snapshot or after.snapshot == before.snapshot:
        return None
    if isinstance(event, WorkspaceReady):
        caller = "" if before.snapshot else _caller_snapshot(log, before)
        source = "" if before.source is None else before.source.changes
        return StepWork(
            run=after.run,
            snapshot=after.snapshot,
            before=before.snapshot or caller,
            source=source,
            ended=seq,
            ended_at=event.at,
        )
    address = str(getattr(event, "address", ""))
    step = before.steps.get(address)
    if step is None:
        return None
    return StepWork(
        run=after.run,
        snapshot=after.snapshot,
        before=before.snapshot,
        address=address,
        began=int(getattr(event, "began", step.began)),
        began_at=step.began_at,
        ended=seq,
        ended_at=event.at,
    )


def _caller_snapshot(log: Log, state: RunState) -> str:
    return "" if state.parent is None else state_before(log, state.parent.run, state.parent.seq + 1).snapshot

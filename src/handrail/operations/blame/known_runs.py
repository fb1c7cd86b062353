"""The runs whose work is in a repository, joined with the commits that git knows of them."""

from collections.abc import Iterable
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.history.run_lines import Filter
from handrail.operations.blame.run_work import RunWork, StepWork, read_run_work
from handrail.ports.line_history import CommitFacts, LineHistory
from handrail.ports.log import Log

_CLOCK_TOLERANCE = 2.0
"""Seconds: git writes times without fractions."""

_BRANCHES = ("refs/heads/", "refs/remotes/origin/")


@frozen
class CommitWindow:
    """The commits that were made or brought in during a step."""

    work: StepWork
    commits: dict[str, CommitFacts]

    def has_made(self, commit: str) -> bool:
        """Whether one of them was made in the step, and not long before it."""
        facts = self.commits.get(commit)
        return facts is not None and self.work.began_at - _CLOCK_TOLERANCE <= facts.committed_at

    def has_twin(self, facts: CommitFacts) -> bool:
        """Whether a commit is one of them, rewritten: a rebase keeps author, time and subject."""
        return any(_identity(facts) == _identity(each) for each in self.commits.values())


@frozen
class KnownRun:
    """A run whose snapshots are in the repository."""

    work: RunWork
    snapshots: dict[str, CommitFacts]

    @property
    def ancestry(self) -> dict[str, tuple[str, ...]]:
        """The parents of its snapshots, by the order of its steps."""
        return {each.snapshot: self._parents(each) for each in self.work.steps if each.snapshot in self.snapshots}

    def _parents(self, work: StepWork) -> tuple[str, ...]:
        facts, before = self.snapshots[work.snapshot], self.snapshots.get(work.before)
        if before is None:
            chosen = (*facts.parents[:1], work.source if work.source in self.snapshots else "")
        else:
            chosen = (work.before, facts.head if facts.head != before.head else "")
        return tuple(dict.fromkeys(each for each in chosen if each))

    def newest(self, without: frozenset[str] = frozenset(), until: float | None = None) -> str:
        """Return the newest snapshot until a time that is not one of some; empty if there is none."""
        for each in reversed(self.work.steps):
            early = until is None or each.ended_at <= until + _CLOCK_TOLERANCE
            if early and each.snapshot in self.snapshots and each.snapshot not in without:
                return each.snapshot
        return ""


class KnownRuns:
    """Reads runs from the log once, and only those that are asked for."""

    def __init__(self, history: LineHistory, log: Log, root: Path) -> None:
        self._history = history
        self._log = log
        self._root = root
        self._runs: dict[str, KnownRun | None] = {}
        self._windows: dict[str, tuple[CommitWindow, ...]] = {}

    def find(self, run: str) -> KnownRun | None:
        """Return a run; None if the log has none of that name with a snapshot in this repository.

        Names of runs recur on other machines, but the names of snapshots never do.
        """
        if run not in self._runs:
            self._runs[run] = self._read(run)
        return self._runs[run]

    def find_active(self, at: float) -> tuple[KnownRun, ...]:
        """Return the runs that were not over at a time, or ended just before it."""
        return tuple(found for run in self._list_active(at) if (found := self.find(run)) is not None)

    def windows(self, run: KnownRun) -> tuple[CommitWindow, ...]:
        """Return the commits of each step that moved HEAD."""
        name = run.work.run
        if name not in self._windows:
            self._windows[name] = tuple(self._list_windows(run))
        return self._windows[name]

    def _read(self, run: str) -> KnownRun | None:
        work = read_run_work(self._log, run)
        if work is None:
            return None
        names = (name for each in work.steps for name in (each.snapshot, each.before, each.source))
        snapshots = self._history.read_commits(self._root, names)
        return KnownRun(work, snapshots) if snapshots else None

    def _list_active(self, at: float) -> Iterable[str]:
        for row in self._log.summaries(Filter()):
            ended = row.document.get("completed_at")
            over = isinstance(ended, int | float) and ended + _CLOCK_TOLERANCE < at
            if row.facts.started - _CLOCK_TOLERANCE <= at and not over:
                yield row.key

    def _list_windows(self, run: KnownRun) -> Iterable[CommitWindow]:
        others: frozenset[str] | None = None
        for work in run.work.steps:
            after, before = run.snapshots.get(work.snapshot), run.snapshots.get(work.before)
            if not work.address or after is None or before is None or after.head == before.head:
                continue
            if others is None:
                others = self._list_base_commits(run)
            names = self._history.list_commits(self._root, before.head, after.head)
            own = (name for name in names if name not in others)
            yield CommitWindow(work, self._history.read_commits(self._root, own))

    def _list_base_commits(self, run: KnownRun) -> frozenset[str]:
        """List what others committed to the base since the run began, unless it was moved forward to the run's own."""
        own = {facts.head for facts in run.snapshots.values()}
        found: set[str] = set()
        for place in _BRANCHES if run.work.base and run.work.start else ():
            branch = f"{place}{run.work.base}"
            listed = self._history.list_commits(self._root, run.work.start, branch, first_parent=True)
            found |= set() if own & {*listed} else {*listed}
        return frozenset(found)


def _identity(facts: CommitFacts) -> tuple[int, str, str]:
    return facts.authored_at, facts.email, facts.subject

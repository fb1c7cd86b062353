"""Asks git where lines come from until every commit of its answer is understood."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from handrail.frozen import frozen
from handrail.operations.blame.known_runs import KnownRun, KnownRuns
from handrail.operations.blame.run_work import StepWork
from handrail.ports.line_history import BlamedLine, CommitFacts, LineHistory, PinnedWork, TrackedFile
from handrail.ports.log import Log
from handrail.runtime.pull_request_log import list_records

_RUN_TRAILER = re.compile(r"^\s*Handrail-Run: (\S+)\s*$", re.MULTILINE)
_STEP_TRAILER = re.compile(r"^\s*Handrail-Step: (\S+)\s*$", re.MULTILINE)
_SQUASHED = re.compile(r"^commit ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)
"""How `git merge --squash` lists the commits."""
_MAX_QUESTIONS = 100


@frozen(kw_only=True)
class CommitOrigin:
    """What is known of a commit that git names."""

    facts: CommitFacts
    work: StepWork | None = None
    """The step that made it."""
    brings: tuple[str, ...] = ()
    """The runs whose work it brought in."""
    certain: bool = False
    """Whether that is known by more than its message."""
    lost: tuple[str, ...] = ()
    """Runs that it names, and of which neither log nor snapshots are here."""
    trailer_step: str = ""


@frozen
class TracedLines:
    """The lines of a file, each with the commit that is responsible."""

    lines: tuple[BlamedLine, ...]
    origins: dict[str, CommitOrigin]


class Trace:
    """One question about a file."""

    def __init__(self, history: LineHistory, log: Log | None, file: TrackedFile) -> None:
        self._history = history
        self._file = file
        self._runs = None if log is None else KnownRuns(history, log, file.root)
        self._log = log
        self._ancestry: dict[str, tuple[str, ...]] = {}
        self._origins: dict[str, CommitOrigin] = {}
        self._pins: tuple[PinnedWork, ...] | None = None
        self._merges: dict[str, tuple[str, str]] | None = None

    def follow(self) -> TracedLines:
        """Ask git until nothing is new."""
        lines = self._history.blame(self._file, {})
        for _ in range(_MAX_QUESTIONS):
            new = {each.commit: each.path for each in lines if each.commit and each.commit not in self._origins}
            if not new:
                break
            known = len(self._ancestry)
            facts = self._history.read_commits(self._root, new)
            for commit, path in new.items():
                self._origins[commit] = self._examine(facts[commit], path)
            if len(self._ancestry) != known:
                lines = self._history.blame(self._file, self._ancestry)
        return TracedLines(lines, self._origins)

    @property
    def _root(self) -> Path:
        return self._file.root

    def _examine(self, facts: CommitFacts, path: str) -> CommitOrigin:
        if facts.snapshot_of:
            return self._examine_snapshot(facts)
        own = self._find_own_step(facts)
        if own is not None:
            return self._claim(facts, path, own)
        named = tuple(dict.fromkeys(_RUN_TRAILER.findall(facts.message)))
        runs, certain = self._find_brought(facts, path)
        found = tuple(dict.fromkeys((*runs, *named)))
        known = [run for name in found if (run := self._find_run(name)) is not None]
        self._connect(facts, path, known, None if certain else facts.committed_at)
        certain = certain or self._has_lines_of(facts.commit, path, known)
        step = _STEP_TRAILER.search(facts.message)
        names = tuple(each.work.run for each in known)
        return CommitOrigin(
            facts=facts,
            brings=names,
            certain=certain,
            lost=tuple(name for name in found if name not in names),
            trailer_step=step[1] if step else "",
        )

    def _examine_snapshot(self, facts: CommitFacts) -> CommitOrigin:
        run = self._find_run(facts.snapshot_of)
        work = None if run is None else run.work.find(facts.commit)
        if run is None:
            return CommitOrigin(facts=facts, lost=(facts.snapshot_of,))
        self._add(run.ancestry)
        return CommitOrigin(facts=facts, work=work, brings=(run.work.run,))

    def _claim(self, facts: CommitFacts, path: str, own: tuple[KnownRun, StepWork]) -> CommitOrigin:
        """Take a commit for one that was made during a step, on top of what the worktree held before."""
        run, work = own
        self._add({facts.commit: self._sort_parents(facts, path, (work.before,)), **run.ancestry})
        return CommitOrigin(facts=facts, work=work, brings=(run.work.run,), certain=True)

    def _connect(self, facts: CommitFacts, path: str, runs: Iterable[KnownRun], until: float | None) -> None:
        """Let a commit that brought in the work of runs pass its lines on to their snapshots."""
        parents: list[str] = []
        for run in runs:
            # A snapshot that was taken on top of the commit would lead back to it.
            later = self._history.list_descendants(self._root, facts.commit, run.newest())
            parents += [run.newest(later, until), self._pull_request_head(facts.commit)]
            self._add(run.ancestry)
        if any(parents):
            self._add({facts.commit: self._sort_parents(facts, path, parents)})

    def _has_lines_of(self, commit: str, path: str, runs: Sequence[KnownRun]) -> bool:
        """Whether a file, as a commit has it, has lines of the runs that the commit names: names may recur."""
        own = {each.snapshot for run in runs for each in run.work.steps if each.address}
        if not own or self._runs is None:
            return False
        own |= {made for run in runs for window in self._runs.windows(run) for made in window.commits}
        lines = self._history.blame(TrackedFile(self._root, path, commit), self._ancestry)
        return any(each.commit in own for each in lines)

    def _sort_parents(self, facts: CommitFacts, path: str, more: Iterable[str]) -> tuple[str, ...]:
        """Put the parent whose file is most like that of the commit first: of equal lines, git finds the right one."""
        parents = tuple(dict.fromkeys(each for each in (*facts.parents, *more) if each))
        files = self._history.find_files(self._root, [(each, path) for each in (facts.commit, *parents)])
        own = files.get((facts.commit, path), "")

        def distance(parent: str) -> float:
            other = files.get((parent, path), "")
            return self._history.count_changed_lines(self._root, other, own) if other and own else float("inf")

        return tuple(sorted(parents, key=distance))

    def _add(self, more: dict[str, tuple[str, ...]]) -> None:
        self._ancestry |= more

    def _find_run(self, name: str) -> KnownRun | None:
        return None if self._runs is None else self._runs.find(name)

    def _find_own_step(self, facts: CommitFacts) -> tuple[KnownRun, StepWork] | None:
        """Find the step in whose time a commit was made in the worktree of its run."""
        if self._runs is None:
            return None
        for run in self._runs.find_active(facts.committed_at):
            for window in self._runs.windows(run):
                if window.has_made(facts.commit):
                    return run, window.work
        return None

    def _find_brought(self, facts: CommitFacts, path: str) -> tuple[tuple[str, ...], bool]:
        """Find the runs whose work a commit brought in, by what is known about them beside its message."""
        merged = self._merge_commits().get(facts.commit)
        if merged is not None:
            return (merged[0],), True
        runs = (*self._find_rewritten(facts), *self._find_squashed(facts))
        return (runs, True) if runs else (self._find_by_content(facts, path), False)

    def _find_rewritten(self, facts: CommitFacts) -> tuple[str, ...]:
        if self._runs is None:
            return ()
        active = self._runs.find_active(facts.authored_at)
        return tuple(run.work.run for run in active if any(each.has_twin(facts) for each in self._runs.windows(run)))

    def _find_squashed(self, facts: CommitFacts) -> tuple[str, ...]:
        names = _SQUASHED.findall(facts.message)
        known = self._history.read_commits(self._root, names)
        found = (self._find_own_step(each) for each in known.values())
        return tuple(dict.fromkeys(each[0].work.run for each in found if each is not None))

    def _find_by_content(self, facts: CommitFacts, path: str) -> tuple[str, ...]:
        """Find the runs that left the file just as the commit has it, or were applied to the file that it changed."""
        if self._log is None:
            return ()
        if self._pins is None:
            self._pins = self._history.list_pins(self._root)
        parent = facts.parents[0] if facts.parents else ""
        names = [(facts.commit, path), (parent, path)]
        names += [(pin.commit, f"{pin.folder}{path}") for pin in self._pins]
        names += [(pin.commit, f"{pin.before}{path}") for pin in self._pins if pin.before]
        files = self._history.find_files(self._root, names)
        content, old = files.get((facts.commit, path)), files.get((parent, path))
        found = [
            pin.run
            for pin in self._pins
            if files.get((pin.commit, f"{pin.folder}{path}")) == content
            or (pin.before and old and files.get((pin.commit, f"{pin.before}{path}")) == old)
        ]
        return tuple(dict.fromkeys(found))

    def _merge_commits(self) -> dict[str, tuple[str, str]]:
        """Map the merge commits of pull requests to their runs and heads."""
        if self._merges is None:
            records = () if self._log is None else list_records(self._log)
            self._merges = {each.merge_commit: (each.run, each.commit) for each in records if each.merge_commit}
        return self._merges

    def _pull_request_head(self, commit: str) -> str:
        head = self._merge_commits().get(commit, ("", ""))[1]
        return head if head in self._history.read_commits(self._root, (head,)) else ""

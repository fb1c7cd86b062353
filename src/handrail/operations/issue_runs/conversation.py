"""Keeps the issues of runs up to date, beside the runs: the progress comment, the issue's status, people's answers.

1. Everything is a projection of the log: a driver that starts after a crash sees which comments are out of date.
2. Nothing here delays or fails a run. What a service refuses is tried again later; `TrackerBusy` says when.
3. A comment is edited at most once in `EDIT_INTERVAL`, but at once if the run asks, blocks or ends.
4. Only one process writes about a run at a time, under a lease of its own that no run needs.
5. Comments are looked for only while a run waits for a person: after a minute, and less and less often. All waiting
   issues of a repository are looked at together, with one call.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from handrail.engine.issues.progress_text import RunProgress, write_progress
from handrail.engine.issues.work_state import WorkState
from handrail.errors import HandrailError, TrackerBusy
from handrail.model.history.issue_work import STREAM, ProgressWritten
from handrail.model.history.run_lines import Filter, Row
from handrail.model.issues import IssueRef, Marker, parse_issue_ref
from handrail.model.pull_requests import STREAM as PULL_REQUEST
from handrail.operations.issue_runs.assign_agent import NO_RULES, StatusRules
from handrail.operations.issue_runs.comment_answers import CommentReader
from handrail.operations.issue_runs.issue_forks import MAX_RUNS, find_original
from handrail.operations.issue_runs.issue_status import IssueStatus
from handrail.operations.issue_runs.run_progress import collect_progress
from handrail.operations.views.pull_requests import find_pull_requests
from handrail.ports.log import Holder, Log
from handrail.ports.trackers import CommentPage, Tracker, TrackerCatalog
from handrail.runtime.history import state_of
from handrail.runtime.ports import Clock
from handrail.runtime.refresh_pull_requests import RefreshResult, refresh_pull_requests
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.work_stream import WorkLedger, read_work, record_work, update_work

WRITER = "issue-writer:"
"""The prefix of the lease under which a process writes about a run."""
OVER = ("succeeded", "failed", "cancelled")
UNFINISHED = ("queued", "running", "waiting", "blocked")
LOOK_INTERVAL = 1.0
"""Seconds between two looks at a run whose status is the same; reading a long run takes a while."""
EDIT_INTERVAL = 15.0
"""Seconds between two edits of a comment that nobody waits for."""
FIRST_POLL, MAX_POLL = 60.0, 900.0
"""Seconds between two looks for comments: in the beginning, and after hours."""
AGAIN = 60.0
"""Seconds after which a service that failed is tried again."""
FINISH_WITHIN = 20.0
"""Seconds that the end of a process waits for the last words on an issue."""
OPEN_PULL_REQUESTS = Filter(prefix=PULL_REQUEST, runs_only=False, status="open", limit=1)
"""Finds out whether any pull request is open."""
Wait = Callable[[float], Awaitable[object]]


@dataclass(slots=True)
class Conversation:
    """Looks after the issues of the runs that this process drives."""

    writer: RunWriter
    trackers: TrackerCatalog
    clock: Clock
    wanted: Callable[[str], bool] = lambda _: True
    """Whether a run is looked after here."""
    on_problem: Callable[[str], None] = lambda _: None
    on_poll: Callable[[float | None], None] = lambda _: None
    """Called with the time of the next look for comments; None if nobody waits."""
    with_pull_requests: bool = True
    """Whether the open pull requests of all runs are looked at too."""
    sent: set[str] = field(default_factory=set[str])
    """The runs that were sent what people answered."""
    _done: dict[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    """Ended runs whose issue needs nothing more, as long as they and their pull requests stay as they were then."""
    _edited: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    """When the comment about a run was last written, and what made it urgent."""
    _blocked: dict[str, float] = field(default_factory=dict[str, float])
    """Until when a place is left alone."""
    _looked: dict[str, tuple[float, object]] = field(default_factory=dict[str, tuple[float, object]])
    """When the state of a run was last read, and its status then."""
    _skipped: bool = False
    """Whether a run was passed over because it was read a moment ago."""
    _polls: dict[IssueRef, float] = field(default_factory=dict[IssueRef, float])
    _trackers: dict[str, Tracker] = field(default_factory=dict[str, Tracker])
    _originals: dict[str, str] = field(default_factory=dict[str, str])
    """The runs on issues, with the run that each is or was copied from; empty for a run that has none."""
    _pull_requests: RefreshResult | None = None
    _seen: int | None = None

    @property
    def log(self) -> Log:
        """The log."""
        return self.writer.log

    async def attend(self, wait: Wait) -> None:
        """Look after issues until cancelled; `wait` returns after a change of the log, or after so many seconds."""
        while True:
            await self.look()
            await wait(self._patience())

    async def finish(self) -> None:
        """Write the last words, within a limited time."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.look(final=True), FINISH_WITHIN)

    def is_waiting(self) -> bool:
        """Whether comments or pull requests will have to be looked at."""
        return bool(self._due_times())

    async def look(self, *, final: bool = False, refresh: bool = False) -> None:
        """Bring every issue up to date, and take up the comments that are due, or all of them to `refresh`."""
        now, self._skipped = self.clock(), False
        rows = self.log.summaries(Filter(holding=("on_issue",), top=True, limit=MAX_RUNS))
        waiting: dict[IssueRef, float] = {}
        for row in rows:
            ref = parse_issue_ref(str(row.document.get("on_issue")))
            if ref is None or not self.wanted(row.key) or self._is_done(ref, row):
                continue
            if not self._find_original(ref, row.key):
                continue
            await self._guard(ref, self._update(ref, row, now, final=final))
            await self._guard(ref, self._settle(ref, now))
            if row.document.get("status") not in OVER and ref.knows_authors:
                asked = self._asked_since(ref, row)
                waiting[ref] = max(waiting.get(ref, 0.0), asked) if asked else waiting.get(ref, 0.0)
        if refresh:
            # Nobody is asked there, but a run can be stopped, and whoever answers nothing is told so.
            for ref in (each for each, asked in waiting.items() if not asked):
                await self._guard(ref, self._read_comments((ref,), now))
        await self._poll({ref: asked for ref, asked in waiting.items() if asked}, now, refresh=refresh)

    def _find_original(self, ref: IssueRef, run: str) -> str:
        """Return the run on an issue that a run is or was copied from; nothing is posted about any other."""
        if run not in self._originals:
            self._originals[run] = find_original(self.log, run, read_work(self.log, ref).runs)
        return self._originals[run]

    def _is_done(self, ref: IssueRef, row: Row) -> bool:
        """Whether the issue of an ended run needs nothing more."""
        return row.key in self._done and self._done[row.key] == self._end_of(ref, row)

    def _end_of(self, ref: IssueRef, row: Row) -> tuple[object, ...]:
        """Return what changes if the issue of an ended run may need something again."""
        # A code host closes an issue with its pull request by itself.
        records = () if ref.is_hosted else find_pull_requests(self.log, row.key)
        return (row.position, *(each.status for each in records))

    async def _guard(self, ref: IssueRef, call: Awaitable[None]) -> None:
        """Run what talks to a service; a failure is only reported, and tried again later."""
        try:
            await call
        except TrackerBusy as busy:
            self._blocked[ref.place] = busy.until
            self.on_problem(busy.message)
        except HandrailError as error:
            self._blocked[ref.place] = self.clock() + AGAIN
            self.on_problem(error.message)

    async def _update(self, ref: IssueRef, row: Row, now: float, *, final: bool) -> None:
        run, over = row.key, row.document.get("status") in OVER
        if self._blocked.get(ref.place, 0.0) > now:
            return
        looked_at, looked_as = self._looked.get(run, (0.0, None))
        if not final and looked_as == row.document.get("status") and 0 <= now - looked_at < LOOK_INTERVAL:
            self._skipped = True
            return
        self._looked[run] = now, row.document.get("status")
        state, work = state_of(self.log, run), read_work(self.log, ref)
        progress = collect_progress(self.log, state, work)
        urgency = _urgency(progress)
        edited_at, edited_as = self._edited.get(run, (0.0, ""))
        is_due = final or urgency != edited_as or now - edited_at >= EDIT_INTERVAL
        if is_due:
            await self._write(ref, progress, work)
            self._edited[run] = now, urgency
        assigned = work.agent(self._originals[run])
        rules = NO_RULES if assigned is None else StatusRules(assigned.close, assigned.blocked_label)
        # Whoever needs nothing of the service any more must not need its token either.
        status = IssueStatus(self.writer, lambda: self._tracker(ref, run), rules)
        await status.bring_up_to_date(ref, state, progress)
        if over and is_due:
            self._done[run] = self._end_of(ref, row)
            self._trackers.pop(run, None)

    async def _settle(self, ref: IssueRef, now: float) -> None:
        """Complete what a process that died has left on an issue, also after its run is over."""
        work = read_work(self.log, ref)
        if (work.taken or work.unanswered) and work.paused_until <= now and self._blocked.get(ref.place, 0.0) <= now:
            tracker = self._tracker_of_issue(ref, work)
            self.sent.update(await CommentReader(self.writer, tracker, ref).settle(now))

    def _tracker(self, ref: IssueRef, run: str) -> Tracker:
        """Return the tracker of a run's issue, with the environment that the run has while it is open."""
        known = self._trackers.get(run)
        if known is None:
            # The environment of a run that is over is no longer held, but its last words have yet to be written.
            known = self._trackers[run] = self.trackers.tracker(ref.place, run)
        return known

    def _tracker_of_issue(self, ref: IssueRef, work: WorkState) -> Tracker:
        """Return the tracker of an issue, with the environment of its newest run that is open, if there is one."""
        newest = work.runs[::-1]
        # The environment of a run that is over is no longer held: its token may be gone.
        found = (run for run in newest if self.log.keys(Filter(key=run, statuses=UNFINISHED)))
        return self._tracker(ref, next(found, next(iter(newest), "")))

    async def _write(self, ref: IssueRef, progress: RunProgress, work: WorkState) -> None:
        """Write the comment about a run, unless it says the same already or another process is writing it."""
        run = progress.run
        text = self.writer.redactor_for(run).text(write_progress(progress))
        digest = sha256(text.encode(errors="replace")).hexdigest()[:16]
        known = work.progress.get(run)
        if known is not None and known.digest == digest:
            return
        lease = self.log.acquire(f"{WRITER}{run}", "handrail")
        if isinstance(lease, Holder):
            return
        try:
            tracker = self._tracker(ref, run)
            comment = await tracker.put_comment(ref, text, Marker(what="progress", key=run))
            written = ProgressWritten(run=run, comment=comment, digest=digest, at=self.clock())
            await record_work(self.log, ref, self.writer.redactor, written)
        finally:
            self.log.release(lease)

    def _asked_since(self, ref: IssueRef, row: Row) -> float:
        """Return since when a run, or one that it called, waits for a person; 0 if it does not."""
        rows = self.log.summaries(Filter(root=row.key, statuses=("waiting", "blocked")))
        asks = [each for each in rows if each.document.get("reason") in ("approval", "question")]
        if not asks:
            return 0.0
        # The text does not change while the run waits, so it was written when the run asked.
        posted = read_work(self.log, ref).progress.get(row.key)
        return self.clock() if posted is None else posted.at

    async def _poll(self, waiting: dict[IssueRef, float], now: float, *, refresh: bool) -> None:
        self._polls = {ref: due for ref, due in self._polls.items() if ref in waiting}
        places = dict.fromkeys(ref.place for ref in waiting)
        for place in places:
            await self._poll_place({ref: at for ref, at in waiting.items() if ref.place == place}, now, refresh=refresh)
        await self._look_at_pull_requests(now, refresh=refresh)
        self._seen = self.log.change_token()
        self.on_poll(min(self._due_times(), default=None))

    async def _poll_place(self, waiting: dict[IssueRef, float], now: float, *, refresh: bool) -> None:
        """Look for comments on all waiting issues of a place at once, if it is time for one of them."""
        first = next(iter(waiting))
        if first.is_local:
            # Comments of the local tracker are in the log: a change of the log is the reason to look.
            if refresh or self.log.change_token() != self._seen:
                await self._guard(first, self._read_comments(waiting, now))
            return
        dues = {ref: self._due(ref, asked) for ref, asked in waiting.items()}
        if (refresh or min(dues.values()) <= now) and self._blocked.get(first.place, 0.0) <= now:
            await self._guard(first, self._read_comments(waiting, now))
            least = self._blocked.get(first.place, 0.0)
            dues = {ref: max(now + _interval(now - asked), least) for ref, asked in waiting.items()}
        for ref, due in dues.items():
            if self._polls.get(ref) != due:
                await self._set_timer(ref, due)

    async def _look_at_pull_requests(self, now: float, *, refresh: bool) -> None:
        """Look at the open pull requests of all runs, if that is due; one process of a machine does that."""
        before = self._pull_requests
        if not self.with_pull_requests or not self.log.keys(OPEN_PULL_REQUESTS):
            self._pull_requests = None
            return
        if not refresh and before is not None and (before.next_look or 0.0) > now:
            return
        found = await refresh_pull_requests(self.log, self.trackers, now, self.writer.redactor, before)
        self._pull_requests = found
        for each in found.problems:
            self.on_problem(each)

    def _due_times(self) -> list[float]:
        later = None if self._pull_requests is None else self._pull_requests.next_look
        return [*self._polls.values(), *(() if later is None else (later,))]

    async def _read_comments(self, refs: Iterable[IssueRef], now: float) -> None:
        """Take up the comments on issues of one place, which are listed with one call."""
        works = {ref: read_work(self.log, ref) for ref in refs}
        looks = {ref: work.since for ref, work in works.items() if work.paused_until <= now}
        trackers = {ref: self._tracker_of_issue(ref, works[ref]) for ref in looks}
        if not looks:
            return
        pages = await next(iter(trackers.values())).comments_since(looks)
        for ref, page in pages.items():
            await self._guard(ref, self._take_up(CommentReader(self.writer, trackers[ref], ref), page, now))

    async def _take_up(self, reader: CommentReader, page: CommentPage, now: float) -> None:
        self.sent.update(await reader.take_up(page, now))

    def _due(self, ref: IssueRef, asked: float) -> float:
        """Return when an issue is looked at next; another process may have set the time."""
        if ref in self._polls:
            return self._polls[ref]
        timers = self.log.due(self.clock() + MAX_POLL + AGAIN)
        return next((each.due for each in timers if each.stream == f"{STREAM}{ref}"), asked + FIRST_POLL)

    async def _set_timer(self, ref: IssueRef, due: float) -> None:
        self._polls[ref] = due

        def change(ledger: WorkLedger) -> None:
            ledger.record(poll_at=due)

        await update_work(self.log, ref, self.writer.redactor, change)

    def _patience(self) -> float:
        now = self.clock()
        times = [LOOK_INTERVAL if self._skipped else EDIT_INTERVAL, *(due - now for due in self._due_times())]
        return max(0.05, min(times))


def _interval(waited: float) -> float:
    """Return the seconds until the next look: the longer a run has waited, the more."""
    return min(MAX_POLL, max(FIRST_POLL, waited / 4))


def _urgency(progress: RunProgress) -> str:
    """Return what makes a new text urgent, if it differs from that of the last one."""
    question = progress.question
    asked = "" if question is None else f"{question.kind} {question.step} {question.text}"
    return f"{progress.status} {asked} {progress.pull_request}"

"""Takes up the comments of people on an issue: each counts once, across processes and restarts.

1. Comments are fetched, and permissions looked up, without any lease. What follows from them is decided under the lease
   of the work on the issue, from facts that are read there again.
2. `comment_taken` is recorded before an answer is sent to the run, and `comment_settled` after it. The inbox of a run
   accepts one answer to a question, so repeating the sending after a crash does nothing.
3. A command of somebody without write permission is only noted. Any other that is refused is answered once, and too
   many replies within an hour stop everything on that issue for an hour.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from handrail.engine.issues.comment_commands import CommentCommand, read_command
from handrail.engine.issues.work_state import WorkState
from handrail.engine.text.host_text import clean_host_text
from handrail.errors import HandrailError
from handrail.model.actors import Actor, make_person, type_actor
from handrail.model.history.issue_work import (
    CommentSettled,
    CommentsSeen,
    CommentTaken,
    IssueFact,
    ReactionsPaused,
    ReplyWritten,
)
from handrail.model.history.run_lines import Filter
from handrail.model.history.run_state import RunState
from handrail.model.issues import Comment, IssueRef, Marker, has_mark
from handrail.operations.issue_runs.issue_forks import find_runs
from handrail.operations.issue_runs.run_progress import asked_event
from handrail.operations.runs import lifecycle
from handrail.operations.views.questions import open_questions
from handrail.ports.log import Log
from handrail.ports.trackers import CommentPage, Tracker
from handrail.runtime.history import state_of
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.work_stream import WorkLedger, read_work, record_work, update_work

MAX_REPLIES = 5
"""The most replies on one issue within `REPLY_WINDOW`."""
REPLY_WINDOW = 3600.0


@dataclass(slots=True)
class CommentReader:
    """Reads the comments on one issue."""

    writer: RunWriter
    tracker: Tracker
    ref: IssueRef

    async def take_up(self, page: CommentPage, now: float) -> tuple[str, ...]:
        """Take up what is new; return the runs that were sent something."""
        work = read_work(self.log, self.ref)
        fresh = [each for each in page.comments if each.id not in work.seen]
        me = await self.tracker.me() if fresh else ""
        runs = find_runs(self.log, self.ref, work) if fresh else ()
        commands = {each.id: command for each in fresh if (command := self._command(each, me, runs)) is not None}
        may = {each.author: False for each in fresh if each.id in commands}
        for login in may:
            may[login] = await self.tracker.may_decide(self.ref, login)
        # A stranger is not answered: whoever may comment could otherwise make us write, and use up our replies.
        commands = {each.id: commands[each.id] for each in fresh if each.id in commands and may[each.author]}
        sent: list[str] = []

        def decide(ledger: WorkLedger) -> None:
            sent.extend(self._take_up(ledger, _Found(fresh, commands, page.since), now))

        if fresh or work.taken or page.since != work.since:
            await update_work(self.log, self.ref, self.writer.redactor, decide)
        await self._reply(now)
        return tuple(dict.fromkeys(sent))

    async def settle(self, now: float) -> tuple[str, ...]:
        """Complete what a process that died has left: comments that were taken up, and replies that are owed."""
        work = read_work(self.log, self.ref)
        sent: list[str] = []

        def complete(ledger: WorkLedger) -> None:
            sent.extend(self._take_up(ledger, _Found([], {}, ledger.state.since), now))

        if work.taken:
            await update_work(self.log, self.ref, self.writer.redactor, complete)
        await self._reply(now)
        return tuple(dict.fromkeys(sent))

    @property
    def log(self) -> Log:
        """The log."""
        return self.writer.log

    def _command(self, comment: Comment, me: str, runs: Collection[str]) -> CommentCommand | None:
        """Return what a comment of a person asks for; None for our own, for those of bots, and for everything else.

        Whatever carries our mark is a text of ours or a copy of one, and no decision of whoever posted it.
        """
        if comment.by_bot or comment.author == me or comment.is_marked or has_mark(comment.body):
            return None
        return read_command(comment.body, runs)

    def _take_up(self, ledger: WorkLedger, found: "_Found", now: float) -> list[str]:
        sent: list[str] = []
        for taken in ledger.state.taken:
            # The process that took it up has died: whether it was sent does not matter, it counts once.
            self._apply(taken)
            ledger.record(CommentSettled(comment=taken.comment, run=taken.run, at=now))
            sent.append(taken.run)
        plain = [each.id for each in found.fresh if each.id not in found.commands]
        for each in found.fresh:
            if each.id not in found.commands or each.id in ledger.state.seen:
                continue
            decided = self._decide(ledger.state, each, found, now)
            ledger.record(decided)
            if isinstance(decided, CommentTaken):
                problem = self._apply(decided)
                ledger.record(CommentSettled(comment=each.id, run=decided.run, problem=problem, at=now))
                sent.append(decided.run)
        unseen = tuple(each for each in plain if each not in ledger.state.seen)
        if unseen or found.since != ledger.state.since:
            ledger.record(CommentsSeen(ids=unseen, since=found.since, at=now))
        return sent

    def _decide(self, work: WorkState, comment: Comment, found: "_Found", now: float) -> IssueFact:
        """Decide what a command does: it is taken up for a run, or refused with a reason."""
        command = found.commands[comment.id]
        refused = CommentSettled(comment=comment.id, at=now)
        if command.problem:
            return replace(refused, problem=command.problem)
        target = self._find_target(work, command)
        if isinstance(target, str):
            return replace(refused, problem=target)
        if target.asked and comment.at < math.floor(target.asked_at):
            return replace(refused, problem=f"it was written before {target.run} asked; please answer again")
        hosted = Actor("github", make_person(comment.author).name)
        return CommentTaken(
            comment=comment.id,
            by=str(hosted) if self.ref.is_hosted else type_actor(comment.author),
            run=target.run,
            verb=command.verb,
            text=command.text,
            asked=target.asked,
            at=now,
        )

    def _find_target(self, work: WorkState, command: CommentCommand) -> "_Target | str":
        """Find the run that a command is for; a text says why there is none."""
        runs = find_runs(self.log, self.ref, work)
        if command.run:
            if command.run not in runs:
                return f"no run {command.run} works on this issue"
            runs = (command.run,)
        if command.verb == "stop":
            found = [_Target(run) for run in runs if not self._is_over(run)]
        else:
            found = [target for run in runs if (target := self._asking(run, command.verb)) is not None]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(each.root for each in found)
            return f"several runs could be meant; name one, such as `/{command.verb} {found[0].root}` (of {names})"
        wants = {"stop": "can be stopped", "answer": "has asked a question"}.get(command.verb, "waits for approval")
        return f"{command.run} is not a run that {wants}" if command.run else f"no run on this issue {wants}"

    def _is_over(self, run: str) -> bool:
        return bool(self.log.keys(Filter(key=run, statuses=("succeeded", "failed", "cancelled"))))

    def _asking(self, run: str, verb: str) -> "_Target | None":
        """Return the question of a run, or of one that it called, that a command answers."""
        for each in open_questions(self.log, run):
            state = state_of(self.log, each)
            asked = asked_event(self.log, state)
            wanted = "question_asked" if verb == "answer" else "approval_requested"
            if asked is not None and asked.kind == wanted and not self.log.inbox(each, limit=1):
                return _Target(each, _pending(state), asked.at, run)
        return None

    def _apply(self, taken: CommentTaken) -> str:
        """Send an answer to its run; return why that is not possible, or an empty text."""
        state = state_of(self.log, taken.run)
        if taken.asked and _pending(state) != taken.asked:
            return f"{taken.run} no longer waits for it"
        try:
            if taken.verb == "stop":
                lifecycle.stop(self.writer, taken.run, taken.by, "a comment on its issue")
            elif taken.verb == "answer":
                lifecycle.answer_in_words(self.writer, taken.run, taken.text, taken.by)
            else:
                lifecycle.answer(self.writer, taken.run, taken.verb, taken.by, taken.text)
        except HandrailError as error:
            return error.message
        return ""

    async def _reply(self, now: float) -> None:
        """Tell the authors of refused comments why, unless there were too many replies lately."""
        for refused in read_work(self.log, self.ref).unanswered:
            work = read_work(self.log, self.ref)
            if work.paused_until > now:
                return
            if sum(at > now - REPLY_WINDOW for at in work.replies) >= MAX_REPLIES:
                paused = ReactionsPaused(until=now + REPLY_WINDOW, at=now)
                await record_work(self.log, self.ref, self.writer.redactor, paused)
                return
            text = f"A command in a comment above could not be applied: {refused.problem}."
            await self.tracker.put_comment(
                self.ref,
                self.writer.redactor.text(clean_host_text(text)),
                Marker(what="message", key=f"reply-{refused.comment}"),
            )
            told = ReplyWritten(comment=refused.comment, at=now)

            def note(ledger: WorkLedger, told: ReplyWritten = told) -> None:
                if any(each.comment == told.comment for each in ledger.state.unanswered):
                    ledger.record(told)

            await update_work(self.log, self.ref, self.writer.redactor, note)


@dataclass(slots=True)
class _Found:
    """What was fetched: new comments, the commands of those who may decide, and where the next look begins."""

    fresh: list[Comment]
    commands: Mapping[str, CommentCommand]
    since: str


@dataclass(slots=True)
class _Target:
    """The run that a command is for, with the event by which it asks."""

    run: str
    asked: int = 0
    asked_at: float = 0.0
    root: str = ""


def list_runs_on(log: Log, ref: IssueRef) -> tuple[str, ...]:
    """List the runs that were started on an issue."""
    return read_work(log, ref).runs


def _pending(state: RunState) -> int:
    return 0 if state.pending is None else state.pending.seq

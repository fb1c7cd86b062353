"""Attends to a run: drives it, shows it, reads what is typed, and pauses it on Ctrl-C.

1. Whoever is asked may take their time: what does not depend on the answer continues meanwhile.
2. Ctrl-C requests a pause and waits until it is recorded; a second one ends this process at once.
3. A run that only waits for a time or for its turn when its terminal is closed continues in the background.
"""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handrail.cli.live.keyboard import Keyboard
from handrail.cli.live.view import LiveView
from handrail.cli.output import note
from handrail.cli.render.safe_text import escape_controls
from handrail.late_import import late_import
from handrail.operations.driving.drive import Drive, EventFollower, RunClaim, RunEvent
from handrail.operations.views.run_tree import find_acting_run, root_of
from handrail.wiring.session import Onlooker, Session

if TYPE_CHECKING:
    from handrail.cli.live import question as question_view
    from handrail.operations.views import questions
else:
    questions = late_import("handrail.operations.views.questions")
    question_view = late_import("handrail.cli.live.question")

REFRESH_INTERVAL = 0.1
"""Seconds between two looks at the keyboard and at the progress."""
ASKS = frozenset({"approval_requested", "question_asked", "run_blocked"})
SETTLES = frozenset({"approval_decided", "question_answered", "run_resumed", "run_rewound", "run_ended"})


@dataclass(slots=True)
class InteractiveRun:
    """One run that is driven in this process until nothing moves and nobody is asked."""

    session: Session
    run: str
    view: LiveView
    follower: EventFollower
    keyboard: Keyboard | None
    """Where questions are answered; None if nobody can be asked."""
    claim: RunClaim
    """The claim of this process on the run."""
    drive: Drive = field(init=False)
    left: bool = False
    """Whether the person left a question unanswered while nothing else was in progress."""
    hung_up: bool = False
    _moving: "asyncio.Task[None]" = field(init=False)
    _question: "question_view.Question | None" = None
    _look: bool = True
    _warned: set[str] = field(default_factory=set[str])
    _passed_over: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    async def go(self) -> None:
        """Drive the run as far as it goes, with the answers that are given on the way."""
        self._move()
        with self._signals():
            try:
                while not self._is_over():
                    self.view.tick(pausing=self.drive.pausing)
                    await self._wait_for_tick()
                    self._listen()
            finally:
                self._moving.cancel()
                await asyncio.gather(self._moving, return_exceptions=True)
                if not self.hung_up:
                    self.view.close()

    async def _wait_for_tick(self) -> None:
        if self._moving.done():
            await asyncio.sleep(REFRESH_INTERVAL)
        else:
            await asyncio.wait({self._moving}, timeout=REFRESH_INTERVAL)

    def _is_over(self) -> bool:
        """Whether nothing moves and nobody is asked; asks the next question if one is due."""
        idle = self._moving.done()
        if idle:
            # Raises whatever went wrong while the run was driven.
            self._moving.result()
        if self._question is None and self.keyboard is not None and (self._look or idle):
            self._look = False
            self._ask(self.keyboard)
        return self.hung_up or (idle and self._moving.done() and self._question is None)

    def _move(self) -> None:
        onlooker = Onlooker(self._handle_event, self._warn, watched=self.keyboard is not None)
        self.drive = self.session.make_drive(self.run, self.claim, self.follower, onlooker)
        self._moving = asyncio.ensure_future(self.drive.go())

    def _warn(self, problem: str) -> None:
        """Tell once that the issue of the run cannot be brought up to date."""
        if problem not in self._warned:
            self._warned.add(problem)
            note(f"warning: {escape_controls(problem)}")

    def _handle_event(self, happened: RunEvent) -> None:
        question, kind = self._question, happened.event.kind
        self._look = self._look or kind in ASKS | SETTLES
        if question is not None and happened.run == question.asks.run and kind in SETTLES:
            self._question = None
            self.view.writer.close_question("  answered elsewhere")
        self.view.show(happened)

    def _ask(self, keyboard: Keyboard) -> None:
        if self.drive.pausing or self.left or not keyboard.is_in_foreground():
            return
        found = questions.find_question(self.session.log, self.run, frozenset(self._passed_over))
        if found is None:
            return
        question = question_view.Question(self.session, *found)
        if not (self._moving.done() or self.follower.has_told(*question.key)):
            # What led to the question is shown first; its own event then asks for another look.
            return
        self._question = question
        keyboard.forget()
        self._prompt(self._question.lines(self.view.writer.columns, self._meanwhile()))

    def _prompt(self, lines: list[str]) -> None:
        if self._question is not None:
            self.view.writer.ask(lines, self._question.prompt)

    def _meanwhile(self) -> tuple[str, ...]:
        return tuple(sorted(each.address for each in self.view.activity.efforts))

    def _listen(self) -> None:
        """Read what was typed, and pass it to the question if there is one."""
        typed = None if self.keyboard is None else self.keyboard.read_line()
        question = self._question
        if typed is None:
            return
        if question is None:
            self.view.writer.note_typed_line()
        elif not typed:
            self._leave(question)
        elif self._take(question, typed):
            self._passed_over.add(question.key)
            self._question = None
            self.view.writer.close_question()
            if self._moving.done():
                self._move()
        else:
            self._prompt(question.repeat_lines(self.view.writer.columns))

    def _take(self, question: "question_view.Question", typed: str) -> bool:
        """Pass what was typed to the question; the claim keeps the background driver from taking the answer first."""
        idle = self._moving.done()
        if idle:
            self.claim.attend(root_of(self.session.log, self.run))
        taken = question.take(typed)
        if idle and not taken:
            self.claim.free()
        return taken

    def _leave(self, question: "question_view.Question") -> None:
        """Leave a question open; what does not depend on it continues."""
        self._passed_over.add(question.key)
        self._question = None
        self._look = True
        self.left = self._moving.done()
        self.view.writer.close_question(f"{question.asks.run} is waiting for your answer: {question.later}")

    @contextmanager
    def _signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._handle_interrupt, loop)
        hears = signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
        if hears:
            loop.add_signal_handler(signal.SIGHUP, self._handle_hangup, loop)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            if hears:
                loop.remove_signal_handler(signal.SIGHUP)

    def _handle_interrupt(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_signal_handler(signal.SIGINT)
        if not self._moving.done():
            self.drive.pause()
        if self._question is not None:
            self._leave(self._question)

    def _handle_hangup(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle a closed terminal: a wait continues in the background, a running step is left to be resumed."""
        activity = self.view.activity
        rests = (activity.breaks or activity.is_queued) and not activity.efforts
        # What is shown may be a moment behind.
        if rests or find_acting_run(self.session.log, self.run).state.status == "queued":
            self.hung_up = True
            return
        loop.remove_signal_handler(signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)

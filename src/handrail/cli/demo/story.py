"""The demo, part by part: each part says what it shows, and then it really happens."""

import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from handrail.cli.demo.place import OWN_WORK, DemoPlace
from handrail.cli.demo.record import (
    count_lost_events,
    count_repeated_tries,
    count_unfinished_tries,
    fingerprints,
    is_half_done,
    list_declined_findings,
    timeline,
)
from handrail.cli.demo.screen import Screen
from handrail.cli.demo.terminal import NEXT, RUN, Terminal, UnexpectedOutput
from handrail.cli.demo.timeline import render_timeline
from handrail.frozen import frozen
from handrail.operations.views.costs import cost_of
from handrail.operations.views.run_tree import find_run_awaiting_approval
from handrail.ports.log import Log
from handrail.wiring.machine import this_machine

TASK = "make the tests pass"
TESTS = "python3 -m unittest 2>&1 | tail -1"
NEEDS_A_PERSON = 3
GRAPH = "git log --graph --oneline --decorate --branches"
INTRO = """\
Handrail runs coding agents along a workflow. This is one run of it, from a task
to merged code, with a crash in the middle. The agent is scripted: no key, no
network. The rest is real: git, tests, processes. Nothing of yours is touched."""


@frozen
class StoryPart:
    """A part that was shown."""

    name: str
    ok: bool
    seconds: float


@dataclass(slots=True)
class Story:
    """One demo in progress."""

    place: DemoPlace
    screen: Screen
    terminal: Terminal
    began: float = field(default_factory=time.monotonic)
    child: "subprocess.Popen[str] | None" = None
    """The process that is going to be killed."""
    parts: list[StoryPart] = field(default_factory=list[StoryPart])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    before: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The hashes of what was recorded when the process was killed."""
    moments: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    def tell(self) -> UnexpectedOutput | None:
        """Show every part; stop at the first that fails and return its error."""
        self.screen.say(INTRO)
        for name, show in PARTS:
            began = time.monotonic()
            try:
                show(self)
            except UnexpectedOutput as error:
                self.parts.append(StoryPart(name, ok=False, seconds=time.monotonic() - began))
                self.facts["error"] = {"code": error.code, "message": error.message, "next": error.next_step}
                return error
            self.parts.append(StoryPart(name, ok=True, seconds=time.monotonic() - began))
        return None

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.began

    def document(self) -> dict[str, Any]:
        """Return what was shown and proven as data."""
        parts = [{"name": each.name, "ok": each.ok, "seconds": round(each.seconds, 3)} for each in self.parts]
        return {"parts": parts, "seconds": round(self.seconds, 3), **self.facts}


def _project(story: Story) -> None:
    story.screen.show_heading("A small project. Its tests fail.")
    said = story.terminal.run_shell(TESTS)
    _expect("the tests of the project fail at first", said.startswith("FAILED"))


def _run(story: Story) -> None:
    story.screen.show_heading("Split, build two parts side by side in worktrees, test: done means proven.")
    words = ("run", "demo", TASK, "--base", "main", "--script", "../script.yaml")
    shown = f'run demo "{TASK}" --base main --script ../script.yaml'
    with _record(story) as log:
        story.child = story.terminal.run_until(words, shown, lambda: is_half_done(log))


def _kill(story: Story) -> None:
    story.screen.show_heading("In the middle of the work, the process is killed.")
    if story.child is None:
        raise UnexpectedOutput("there is no process to kill")
    story.terminal.kill(story.child)
    story.moments.append((time.time(), "kill -9"))
    story.facts["killed"] = {"pid": story.child.pid, "signal": -story.child.returncode}
    with _record(story) as log:
        story.before = fingerprints(log)
    story.terminal.run_handrail()


def _resume(story: Story) -> None:
    story.screen.show_heading("Resume: nothing is done twice. Then a review, whose arbiter may decline.")
    story.place.busy_file.unlink()
    story.moments.append((time.time(), "resume"))
    story.terminal.run_handrail("resume", code=NEEDS_A_PERSON)
    with _record(story) as log:
        _expect("the run continues to its approval", find_run_awaiting_approval(log, RUN) is not None)


def _approve(story: Story) -> None:
    story.screen.show_heading("Nothing ships without you. Here the demo says yes.")
    story.terminal.run_handrail("approve", RUN)
    story.terminal.over = True


def _merge(story: Story) -> None:
    story.screen.show_heading("So far the work is on its own branch: merge it, test main.")
    story.terminal.run_handrail("merge", RUN)
    story.facts["untouched"] = _is_checkout_untouched(story)
    said = story.terminal.run_shell(f"git switch -q main && {TESTS}")
    story.facts["tests_pass"] = said.startswith("OK")


def _graph(story: Story) -> None:
    story.screen.show_heading("The branches.", read=False)
    story.terminal.run_shell(GRAPH)


def _timeline(story: Story) -> None:
    story.screen.show_heading("The timeline: when, how long, by whom, for how much.", read=False)
    with _record(story) as log:
        steps = timeline(log)
    story.facts["steps"] = len(steps)
    for line in render_timeline(steps, story.moments):
        story.screen.show_output(line)


def _cost(story: Story) -> None:
    story.screen.show_heading("The cost, as reported by the scripted agent.", read=False)
    story.terminal.run_handrail("cost", RUN)
    with _record(story) as log:
        story.facts["cost"] = cost_of(log, RUN).total.usd


def _proof(story: Story) -> None:
    story.screen.show_heading("What is proven, from the log and from git.", read=False)
    starts = len(story.place.witness.read_text("utf-8").splitlines())
    recorded = sum(map(len, story.before.values()))
    with _record(story) as log:
        again, lost, open_ones = (
            count_repeated_tries(log) + starts - 1,
            count_lost_events(log, story.before),
            count_unfinished_tries(log),
        )
        refused = list_declined_findings(log)
    story.facts.update(repeated=again, lost=lost, unfinished=open_ones, declined=refused)
    for words, holds in (
        ("Done means proven: the tests failed before, and now pass on main", story.facts["tests_pass"]),
        (f"Nothing ran twice: {story.facts['steps']} steps, {again} repeated, despite kill -9", not again),
        (f"Nothing was lost: {recorded} events before the kill, all there, unchanged", not lost and not open_ones),
        (f"The review ended: 1 fixed, 1 declined because {_reason(refused)}", len(refused) == 1),
        (f"Your checkout is untouched: {OWN_WORK} and your branch are as they were", story.facts["untouched"]),
    ):
        story.screen.show_output(f"{'✓' if holds else '✗'} {words}")
        _expect(words, holds)


def _reason(refused: list[dict[str, Any]]) -> str:
    return str(refused[0]["reason"]) if refused else ""


def _is_checkout_untouched(story: Story) -> bool:
    status = story.terminal.run_shell("git branch --show-current; git status --porcelain", quiet=True)
    return status.split("\n") == ["yours", f"?? {OWN_WORK}", ""]


def _expect(words: str, holds: bool) -> None:
    if not holds:
        raise UnexpectedOutput(f"this does not hold: {words}", next_step=NEXT)


@contextmanager
def _record(story: Story) -> Generator[Log]:
    log = this_machine().log_files.open(story.place.folders.data)
    try:
        yield log
    finally:
        log.close()


PARTS: tuple[tuple[str, Callable[[Story], None]], ...] = (
    ("project", _project),
    ("run", _run),
    ("kill", _kill),
    ("resume", _resume),
    ("approve", _approve),
    ("merge", _merge),
    ("graph", _graph),
    ("timeline", _timeline),
    ("cost", _cost),
    ("proof", _proof),
)
"""Each part: its name in the document, and the function that shows it."""

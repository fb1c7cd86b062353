"""Follows a run for a person: drives it here, shows its progress, and reports its state at the end."""

import asyncio

import click

from handrail.cli.live.keyboard import open_keyboard
from handrail.cli.live.session_loop import InteractiveRun
from handrail.cli.live.view import is_live, view_of
from handrail.cli.output import note, write_json
from handrail.cli.render.layout import wrap_text
from handrail.cli.render.run_end import final_lines
from handrail.cli.render.safe_text import escape_controls
from handrail.frozen import frozen
from handrail.operations.driving.drive import EventFollower, RunClaim, RunEvent, wait_until_inbox_empty
from handrail.operations.driving.live import Activity
from handrail.operations.views.costs import spending_before_fork
from handrail.operations.views.run_document import exit_code, plan_of, run_document
from handrail.operations.views.run_tree import find_acting_run, holder_of, holder_words, root_of
from handrail.wiring.session import Session, current_actor

INTERRUPTED = 130
HUNG_UP = 129


@frozen
class RunDisplay:
    """How a run is driven and shown: by which command, and whether as one JSON document at the end."""

    session: Session
    run: str
    name: str
    as_json: bool
    follower: EventFollower
    activity: Activity
    claim: RunClaim
    """Keeps the background driver away from the run until it is clear who drives it."""
    past: tuple[RunEvent, ...] = ()
    """The earlier events: steps that began in them end now."""
    instead: bool = False
    """Whether the environment of this process replaces the one that the run had, which lacked a login."""

    def go(self) -> int:
        """Drive the run until it ends or needs a person, report its state, and return the exit code."""
        self.session.offer_environment(root_of(self.session.log, self.run), instead=self.instead)
        attended = self.move(asks=True)
        if attended.hung_up:
            continue_detached(self)
            return HUNG_UP
        self._leave_to_driver()
        return INTERRUPTED if attended.left else self.report(attended.drive.pausing)

    def _leave_to_driver(self) -> None:
        """Let the background driver look for answers on the issue of a run that waits for one."""
        issue = self.session.wake_for_issue(self.run)
        if issue:
            note(f"answers are looked for on the issue {issue}, in the background")

    def report(self, pausing: bool = False) -> int:
        """Report the state of the run, and return the exit code."""
        document = run_document(self.session.log, self.run)
        if self.as_json:
            write_json(document)
        else:
            echo_fitting(final_lines(self.session, self.run, document))
        if pausing and document["status"] in ("waiting", "running"):
            return INTERRUPTED
        return 0 if self._is_with_agent() else exit_code(document)

    def _is_with_agent(self) -> bool:
        """Whether the run has reached its connected agent, which does the next step: nobody is needed."""
        at = find_acting_run(self.session.log, self.run).acting
        return at.status == "running" and bool(at.held_by)

    def move(self, *, asks: bool = False) -> InteractiveRun:
        """Drive the run as far as it goes; `asks` says whether a person at the terminal is asked on the way."""
        # An agent that has a terminal is not asked: its answer would count as the person's.
        typed = open_keyboard() if asks and not self.as_json and current_actor().decides else None
        view = view_of(self.session, self.run, self.activity, as_json=self.as_json, in_place=typed is not None)
        for happened in self.past:
            view.lines.line(happened)
        attended = InteractiveRun(self.session, self.run, view, self.follower, typed, self.claim)
        asyncio.run(attended.go())
        return attended


def watch(session: Session, run: str, name: str, *, as_json: bool, claim: RunClaim | None = None) -> RunDisplay:
    """Prepare to watch and drive a run: from now on, or from its beginning if it is claimed already."""
    follower = EventFollower(session.log, run)
    from_now = claim is None
    claim = claim or RunClaim(session.log, name)
    instead = from_now and session.attend(run, claim)
    if not from_now:
        session.keep_environment(run)
    activity = Activity(lambda digest: plan_of(session.log, digest), spending_before_fork(session.log, run))
    past = tuple(follower.news()) if from_now else ()
    for happened in past:
        activity.see(happened)
    return RunDisplay(session, run, name, as_json, follower, activity, claim, past, instead)


def echo_fitting(lines: list[str]) -> None:
    """Write lines; on a terminal they are wrapped at spaces, so that no word is broken."""
    from handrail.cli.live.area import terminal_columns

    for line in map(escape_controls, lines):
        if not is_live():
            click.echo(line)
            continue
        indent = " " * (len(line) - len(line.lstrip(" ")))
        for each in wrap_text(line.lstrip(" "), terminal_columns(), first=indent, later=f"{indent}  "):
            click.echo(each)


def continue_run(watched: RunDisplay) -> int:
    """Continue a run after a message: here, or in the process that already drives it."""
    session = watched.session
    holder = holder_of(session.log, watched.run)
    if holder is None:
        return watched.go()
    watched.claim.free()
    asyncio.run(wait_until_inbox_empty(session.log, watched.run))
    note(f"{watched.run} continues in {holder_words(holder)}")
    if watched.as_json:
        write_json(run_document(session.log, watched.run))
    return 0


def continue_detached(watched: RunDisplay) -> int:
    """Leave a run to whoever drives it, or else to the background driver, and return at once."""
    session, run = watched.session, watched.run
    who = session.hand_over(run, watched.claim, instead=watched.instead)
    if who.warning:
        note(f"warning: {who.warning}")
    note(f"{run} continues in process {who.pid}; handrail status {run} shows its progress")
    if watched.as_json:
        write_json(run_document(session.log, run))
    return 0


def process_inbox(watched: RunDisplay) -> None:
    """Make sure that a message is processed: by whoever drives the run, or here."""
    log = watched.session.log
    if holder_of(log, watched.run) is None:
        watched.move()
    else:
        watched.claim.free()
        asyncio.run(wait_until_inbox_empty(log, watched.run))

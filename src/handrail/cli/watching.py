"""Drives a run in this process while a person watches: lines as they come, approvals in place, Ctrl-C pauses."""

import asyncio
import signal
import sys
from dataclasses import dataclass

import click

from handrail.cli.asking import answer_in_place, asked_by
from handrail.cli.output import note, write_json
from handrail.cli.render_steps import StepLines
from handrail.cli.safe_text import harmless
from handrail.cli.session import Session
from handrail.errors import LogConflict
from handrail.model.run import RunState
from handrail.model.values import JsonValue
from handrail.operations.costs import elapsed
from handrail.operations.driving import Drive, Follower, Happened, until_taken_up
from handrail.operations.families import held_words, holder_of, root_of, standing
from handrail.operations.money import duration, price_words
from handrail.operations.run_views import exit_code, iso, run_document

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Watch:
    """How a run is driven and shown: by whom, and whether as one JSON document at the end."""

    session: Session
    run: str
    name: str
    as_json: bool
    follower: Follower

    def go(self) -> int:
        """Drive the run until it is over or needs somebody, say how it stands, and give the exit code."""
        while True:
            drive = self.move()
            asks = asked_by(self.session, self.run)
            if drive.pausing or asks is None or self.as_json or not sys.stdin.isatty():
                break
            if not answer_in_place(self.session, asks):
                return INTERRUPTED
        return self.report(drive.pausing)

    def report(self, pausing: bool = False) -> int:
        """Say how the run stands."""
        document = run_document(self.session.log, self.run)
        if self.as_json:
            write_json(document)
        else:
            for line in final_lines(self.session, self.run, document):
                click.echo(harmless(line))
        return INTERRUPTED if pausing and document["status"] in ("waiting", "running") else exit_code(document)

    def move(self) -> Drive:
        """Drive the run as far as it goes by itself."""
        lines = StepLines()

        def show(happened: Happened) -> None:
            line = lines.line(happened)
            if line is not None:
                click.echo(line, err=self.as_json)

        supervisor = self.session.system.supervisor(self.name)
        drive = Drive(self.session.log, supervisor, self.run, show, self.follower)
        asyncio.run(_until_interrupted(drive))
        return drive


def watch(session: Session, run: str, name: str, *, as_json: bool, from_now: bool = True) -> Watch:
    """Get ready to watch a run; from now on, or from its beginning."""
    follower = Follower(session.log, run)
    if from_now:
        follower.skip()
    return Watch(session, run, name, as_json, follower)


def refuse_if_driven(session: Session, run: str) -> None:
    """Refuse to drive a run that another process drives, and say which."""
    holder = holder_of(session.log, run)
    if holder is not None:
        raise LogConflict(f"{run} is driven by {held_words(holder)}", next_step=f"handrail status {run}")


def go_on(watched: Watch) -> int:
    """Let a run go on after a message: here, or where it is driven already."""
    session = watched.session
    holder = holder_of(session.log, watched.run)
    if holder is None:
        return watched.go()
    asyncio.run(until_taken_up(session.log, watched.run))
    note(f"{watched.run} goes on in {held_words(holder)}")
    if watched.as_json:
        write_json(run_document(session.log, watched.run))
    return 0


def go_on_detached(watched: Watch) -> int:
    """Leave a run to whoever drives it, else to the background driver, and come back at once."""
    from handrail.operations.background import keep_going

    session, run = watched.session, watched.run
    who = keep_going(session.place.folders, session.log, run)
    note(f"{run} goes on in process {who.pid}; handrail status {run} shows how far it is")
    if watched.as_json:
        write_json(run_document(session.log, run))
    return 0


def take_up(watched: Watch) -> None:
    """See to it that a message is taken up: by whoever drives the run, or here."""
    log = watched.session.log
    if holder_of(log, watched.run) is None:
        watched.move()
    else:
        asyncio.run(until_taken_up(log, watched.run))


def final_lines(session: Session, run: str, document: dict[str, JsonValue]) -> list[str]:
    """Say how a run stands, and the next command."""
    at = standing(session.log, run).acting
    step = document["current_step"]
    match document["status"]:
        case "succeeded":
            return _succeeded(session, run)
        case "failed":
            return [f"{run} failed: {document['error']}", f"next: handrail why {run}, or handrail resume {run}"]
        case "cancelled":
            return [f"{run} {document['error'] or 'stopped'}"]
        case "waiting" if document["reason"] == "approval":
            answers = f"handrail approve {at.run}, or revise, or reject"
            return [f"{run} needs you: {at.message or 'approval'}", f"next: {answers}"]
        case "waiting" if document["reason"] == "question":
            return [f"{run} needs you: {at.message}", f'next: handrail answer {at.run} "..."']
        case "waiting" if document["reason"] == "pause":
            return [f"paused {run} at {step}", f"next: handrail resume {run}"]
        case "blocked":
            hint = [f"  {at.next_step}"] if at.next_step else []
            return [f"{run} needs you: {at.message}", *hint, f"next: handrail resume {root_of(run)}"]
        case _:
            return _not_moving(session, run, at)


def _succeeded(session: Session, run: str) -> list[str]:
    """What it took, and what can be done with what it changed."""
    state = standing(session.log, run).state
    price = price_words(state.spent)
    took = [duration(elapsed(session.log, state)), price] if price else []
    next_step = f"next: handrail diff {run} --stat, then apply, merge or discard it"
    return [" · ".join([f"{run} succeeded", *took]), *([next_step] if state.tree is not None else [])]


def _not_moving(session: Session, run: str, at: RunState) -> list[str]:
    if at.held_by:
        return [f"{run} is held by {at.held_by}", f"next: handrail release {at.run}"]
    holder = holder_of(session.log, run)
    if holder is not None:
        return [f"{run} is driven by {held_words(holder)}", f"next: handrail status {run}"]
    if at.until is not None:
        return [f"{run} is waiting until {iso(at.until)}", f"next: handrail resume {run}"]
    return [f"{run} has not ended", f"next: handrail resume {run}"]


async def _until_interrupted(drive: Drive) -> None:
    """Ctrl-C asks for a pause and waits until it is recorded; a second one ends this process at once."""
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        drive.pause()

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        await drive.go()
    finally:
        loop.remove_signal_handler(signal.SIGINT)

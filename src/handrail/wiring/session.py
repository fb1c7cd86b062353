"""The user's log, open for one command or one surface."""

import getpass
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.agents.profiles import agent_in_shell
from handrail.errors import HandrailError, NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.actors import Actor, make_agent, make_connected, make_person
from handrail.operations.runs.lifecycle import find
from handrail.operations.runs.prepare import workflows_seen_from
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.processes.process_folder import EnclosingStep, callers, find_inside
from handrail.processes.run_environment import HandedEnvironments
from handrail.runtime.event_records import decode_event
from handrail.runtime.run_writer import RunWriter
from handrail.sources.folders import HOME, user_folders
from handrail.sources.tiers import Location
from handrail.wiring.machine import this_machine
from handrail.wiring.place import current_place
from handrail.wiring.system import SOCKETS, System, open_system, report_on_issues, tell_people

if TYPE_CHECKING:
    from handrail.operations.driving import drive as driving
    from handrail.operations.driving import handover as handing_over
    from handrail.operations.driving import queue
    from handrail.operations.driving.drive import Drive, EventFollower, RunEvent
    from handrail.operations.driving.handover import Handover, HandoverResult
    from handrail.operations.views import run_tree
    from handrail.operations.views.diff import Differences
    from handrail.operations.views.transcript import Transcripts
    from handrail.runtime.run_writer import RunClaim
    from handrail.wiring import handover, run_list
else:
    driving = late_import("handrail.operations.driving.drive")
    handing_over = late_import("handrail.operations.driving.handover")
    queue = late_import("handrail.operations.driving.queue")
    run_tree = late_import("handrail.operations.views.run_tree")
    handover = late_import("handrail.wiring.handover")
    run_list = late_import("handrail.wiring.run_list")


LOCAL_ISSUE = "local#"
"""How the name of an issue begins that only this machine knows."""


@frozen
class Onlooker:
    """Who learns what happens while a run is driven here."""

    show: "Callable[[RunEvent], None]"
    warn: Callable[[str], None]
    """Gets what goes wrong beside the run, such as a report on its issue."""
    watched: bool = False
    """Whether a person watches the run in a terminal."""


@frozen
class Session:
    """Where a command was called, and the log with everything that drives its runs."""

    place: Location
    system: System

    @property
    def log(self) -> Log:
        """The log."""
        return self.system.log

    @property
    def writer(self) -> RunWriter:
        """The writer to the runs of the log."""
        return self.system.writer

    @property
    def machine(self) -> Machine:
        """The machine."""
        return self.system.machine

    @property
    def handover(self) -> "Handover":
        """What hands runs over to the background driver, with the environment of this process."""
        return handover.make_handover(self.system, self.place.folders)

    def keep_environment(self, run: str) -> None:
        """Let a run use the environment of this process: it is started here, or a person changes its environment."""
        if isinstance(self.system.environments, HandedEnvironments):
            self.system.environments.keep_own(run)

    def offer_environment(self, run: str, *, instead: bool = False) -> None:
        """Offer the environment of this process to a running background driver, in case it gets the run."""
        if any(self.system.folder.glob(SOCKETS)):
            self.handover.offer(run, instead=instead)

    def attend(self, run: str, claim: "RunClaim") -> bool:
        """Attend to a run that another process may drive, before it is sent a message.

        Return whether the environment of this process replaces the one that the run had, which lacked a login.
        """
        if run_tree.holder_of(self.log, run) is None:
            claim.attend(run_tree.root_of(self.log, run))
        instead = driving.lacks_login(self.log, run)
        if instead:
            self.keep_environment(run)
        return instead

    def make_drive(self, run: str, claim: "RunClaim", follower: "EventFollower", onlooker: Onlooker) -> "Drive":
        """Build what drives a run in this process, notifies people and reports on its issue."""
        supervisor = self.system.supervisor(claim.name)
        folders = self.place.folders
        tell_people(supervisor, folders, self.writer, watched=onlooker.watched)
        report_on_issues(supervisor, self.system, folders, onlooker.warn, run_tree.root_of(self.log, run))
        drive = driving.Drive(self.log, supervisor, run, onlooker.show, follower, claim)
        drive.on_queue = lambda: queue.ensure_queue_driver(self.log, folders, self.machine.programs, run)
        return drive

    def hand_over(self, run: str, claim: "RunClaim", *, instead: bool = False) -> "HandoverResult":
        """Leave a run to whoever drives it, or else to the background driver."""
        claim.attend(run_tree.root_of(self.log, run))
        first = claim.pass_on()
        if first is not None:
            self.log.release(first)
        result = handing_over.keep_going(self.handover, run, instead=instead)
        claim.free()
        return result

    def wake_for_issue(self, run: str) -> str:
        """Let the background driver look for answers on the issue of a run that waits for one; return the issue."""
        at = run_tree.find_acting_run(self.log, run_tree.root_of(self.log, run))
        asks = at.acting.status == "waiting" and at.acting.reason in ("approval", "question")
        if not at.state.issue or at.state.issue.startswith(LOCAL_ISSUE) or not asks:
            return ""
        self.handover.wake(at.state.run)
        return at.state.issue

    @property
    def differences(self) -> "Differences":
        """What compares the worktrees of runs."""
        from handrail.operations.views.diff import Differences  # noqa: PLC0415 - few commands need it

        return Differences(self.log, self.system.workspaces, self.machine.redactor())

    @property
    def transcripts(self) -> "Transcripts":
        """What reads the output of agents."""
        from handrail.operations.views.transcript import Transcripts  # noqa: PLC0415 - few commands need it

        system = self.system
        folder = system.folder / "runs"
        return Transcripts(self.log, self.machine.processes, system.agents, self.machine.redactor(), folder)

    def find(self, words: str) -> str:
        """Find a run by id, unique prefix or `@last`."""
        return find(self.log, words)


@contextmanager
def open_session(place: Location | None = None) -> Generator[Session]:
    """Open the log, creating it if it does not exist; without a place, as seen from the current folder."""
    place = place or current_place()
    seen = workflows_seen_from(os.environ, place)
    system = open_system(place.folders, seen, this_machine(), folder=place.cwd)
    try:
        yield Session(place, system)
    finally:
        system.log.close()


@contextmanager
def open_existing_session(place: Location | None = None) -> Generator[Session | None]:
    """Open the log if there is one, else yield None."""
    place = place or current_place()
    if not run_list.has_log(place.folders.data):
        yield None
        return
    with open_session(place) as session:
        yield session


@contextmanager
def open_run_session(place: Location | None = None) -> Generator[Session]:
    """Open the log for a command about a run that exists."""
    with open_existing_session(place) as session:
        if session is None:
            raise NotFound("there are no runs yet", next_step="handrail run WORKFLOW")
        yield session


def current_actor() -> Actor:
    """Return who calls a command: the person at the keyboard, or the agent in whose step or shell we are.

    A program of the same user that left no trace above us, such as one that cron starts, counts as the person.
    """
    return _find_agent_above(user_folders(os.environ).data) or make_person(_current_user())


def _current_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


@cache
def _find_agent_above(data: Path) -> Actor | None:
    above = tuple(callers())
    inside = find_inside(data, above)
    if inside is not None:
        return make_agent(inside.run, _address(data, inside))
    client = next(
        (name for each in above if (name := agent_in_shell(each.environ)) and _is_for(data, each.environ)), ""
    )
    return make_connected(client) if client else None


def _is_for(data: Path, environ: Mapping[str, str]) -> bool:
    """Whether an agent's shell means this data folder; a caller below it may name another one, as tests do."""
    return HOME not in os.environ or user_folders(environ).data.resolve() == data.resolve()


def _address(data: Path, inside: EnclosingStep) -> str:
    """Return the address of a step; empty if the log does not say, as in a sandbox."""
    try:
        if not inside.seq or not run_list.has_log(data):
            return ""
        with closing(this_machine().log_files.open(data)) as log:
            began = (decode_event(each) for each in log.read(inside.run, inside.seq - 1, 1))
            return next((str(getattr(each, "address", "")) for each in began), "")
    except HandrailError:
        return ""

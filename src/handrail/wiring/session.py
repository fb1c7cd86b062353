"""The user's log, open for one command or one surface."""

import getpass
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.operations.runs.lifecycle import find
from handrail.operations.runs.prepare import workflows_seen_from
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.runtime.run_writer import RunWriter
from handrail.sources.tiers import Place
from handrail.wiring.machine import this_machine
from handrail.wiring.place import current_place
from handrail.wiring.system import System, open_system

if TYPE_CHECKING:
    from handrail.operations.views.diff import Differences
    from handrail.wiring import run_list
else:
    run_list = late_import("handrail.wiring.run_list")


@frozen
class Session:
    """Where a command was called, and the log with everything that drives its runs."""

    place: Place
    system: System

    @property
    def log(self) -> Log:
        """The log."""
        return self.system.log

    @property
    def writer(self) -> RunWriter:
        """What writes to the runs of the log."""
        return self.system.writer

    @property
    def machine(self) -> Machine:
        """The machine."""
        return self.system.machine

    @property
    def differences(self) -> "Differences":
        """What compares the work trees of runs."""
        from handrail.operations.views.diff import Differences  # noqa: PLC0415 - few commands need it

        return Differences(self.log, self.system.workspaces, self.machine.redactor())

    def find(self, words: str) -> str:
        """Find a run by id, unique beginning or `@last`."""
        return find(self.log, words)


@contextmanager
def open_session(place: Place | None = None) -> Generator[Session]:
    """Open the log, making it when it does not exist; without a place, as seen from the current folder."""
    place = place or current_place()
    system = open_system(place.folders, workflows_seen_from(os.environ, place), this_machine())
    try:
        yield Session(place, system)
    finally:
        system.log.close()


@contextmanager
def existing_session(place: Place | None = None) -> Generator[Session | None]:
    """Open the log if there is one."""
    place = place or current_place()
    if not run_list.has_log(place.folders.data):
        yield None
        return
    with open_session(place) as session:
        yield session


@contextmanager
def run_session(place: Place | None = None) -> Generator[Session]:
    """Open the log for a command about a run that exists."""
    with existing_session(place) as session:
        if session is None:
            raise NotFound("there are no runs yet", next_step="handrail run WORKFLOW")
        yield session


def current_user() -> str:
    """Name the person at the keyboard."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"

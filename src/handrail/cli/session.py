"""The user's log, open for one command."""

import getpass
import os
from collections.abc import Generator
from contextlib import contextmanager

from handrail.cli.options import current_place
from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.operations.runs.lifecycle import find
from handrail.operations.runs.prepare import workflows_seen_from
from handrail.ports.log import Log
from handrail.sources.tiers import Place
from handrail.store.sqlite.database import FILE
from handrail.wiring import System, open_system


@frozen
class Session:
    """Where a command was called, and the log with everything that drives its runs."""

    place: Place
    system: System

    @property
    def log(self) -> Log:
        """The log."""
        return self.system.log

    def find(self, words: str) -> str:
        """Find a run by id, unique beginning or `@last`."""
        return find(self.log, words)


@contextmanager
def open_session() -> Generator[Session]:
    """Open the log, making it when it does not exist."""
    place = current_place()
    system = open_system(place.folders, workflows_seen_from(os.environ, place))
    try:
        yield Session(place, system)
    finally:
        system.log.close()


@contextmanager
def existing_session() -> Generator[Session | None]:
    """Open the log if there is one."""
    if not (current_place().folders.data / FILE).exists():
        yield None
        return
    with open_session() as session:
        yield session


@contextmanager
def run_session() -> Generator[Session]:
    """Open the log for a command about a run that exists."""
    with existing_session() as session:
        if session is None:
            raise NotFound("there are no runs yet", next_step="handrail run WORKFLOW")
        yield session


def me() -> str:
    """Name the person at the keyboard."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"

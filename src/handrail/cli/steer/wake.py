"""Lets a background driver look at issues and pull requests when that is due, and no driver runs."""

import contextlib
import os
import time

from handrail.errors import HandrailError
from handrail.model.history.run_lines import Filter
from handrail.operations.driving.background_driver import ensure, find_background_driver
from handrail.sources.folders import user_folders
from handrail.wiring.machine import this_machine
from handrail.wiring.session import current_actor, open_session

MAX_RUNS = 50
"""The number of runs that get the environment of this process, if nobody gave them theirs."""


def wake_if_due(due: float) -> None:
    """Start a driver if its time has come; an agent starts none, and nothing here fails the command."""
    folders = user_folders(os.environ)
    if due > time.time() or find_background_driver(folders) is not None or not current_actor().decides:
        return
    with contextlib.suppress(HandrailError, OSError):
        ensure(folders, this_machine().programs)
        with open_session() as session:
            wanted = Filter(holding=("on_issue",), top=True, statuses=("waiting", "running", "blocked"), limit=MAX_RUNS)
            for run in session.log.keys(wanted):
                session.handover.wake(run)

"""Starts a background driver when issues or pull requests should have been looked at, and no driver runs."""

import contextlib
import os
import time

from handrail.errors import HandrailError
from handrail.operations.driving.background_driver import ensure, find_background_driver
from handrail.sources.folders import user_folders
from handrail.wiring.machine import this_machine
from handrail.wiring.session import current_actor


def wake_if_due(due: float) -> None:
    """Start a driver if its time has come; an agent starts none, and nothing here fails the command."""
    folders = user_folders(os.environ)
    if due > time.time() or find_background_driver(folders) is not None or not current_actor().decides:
        return
    with contextlib.suppress(HandrailError, OSError):
        ensure(folders, this_machine().programs)

"""The place in which a command is called."""

import os
from pathlib import Path

from handrail.errors import EnvironmentFault
from handrail.sources.tiers import Location, here


def current_place() -> Location:
    """Return the current folder with its repository, and the user's folders."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        message, next_step = "the current folder no longer exists", "cd into a folder that exists"
        raise EnvironmentFault(message, next_step=next_step) from None
    return here(cwd, os.environ)

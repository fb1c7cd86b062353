"""The list of runs in a folder, for commands that only show it and must start fast."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.store.sqlite.connection import FILE

if TYPE_CHECKING:
    from handrail.ports.run_list import RunList
    from handrail.store.sqlite import run_list
else:
    run_list = late_import("handrail.store.sqlite.run_list")


def has_log(folder: Path) -> bool:
    """Return whether anything was recorded in a folder."""
    return (folder / FILE).exists()


def open_run_list(folder: Path) -> "AbstractContextManager[RunList]":
    """Open the list; raise `NeedsWholeLog` if only the whole log can read it, or report what is wrong with it."""
    return run_list.run_list(folder)

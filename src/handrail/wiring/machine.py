"""The machine on which this process runs, behind its ports."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.agents.registry import BuiltInCatalog
from handrail.late_import import late_import
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.processes.environment import filter_environment, process_redactor
from handrail.processes.local import LocalProcesses
from handrail.processes.local_programs import LocalPrograms
from handrail.sources.folders import user_folders
from handrail.sources.trust.store import TrustStore
from handrail.store.sqlite.connection import FILE
from handrail.store.sqlite.database import sqlite_version
from handrail.store.sqlite.log import open_readable, salvage_folder
from handrail.workspace.git_repositories import GitRepositories
from handrail.workspace.sandbox import Bubblewrap
from handrail.workspace.tmux import Tmux

if TYPE_CHECKING:
    from handrail.ports.delivery import UnfinishedApply
    from handrail.ports.log_care import Salvage
    from handrail.trackers.local import care as local_care
    from handrail.workspace import git_workspaces
else:
    git_workspaces = late_import("handrail.workspace.git_workspaces")
    local_care = late_import("handrail.trackers.local.care")


def list_unfinished_applies(folder: Path) -> "tuple[UnfinishedApply, ...]":
    """List the interrupted applies to checkouts, from the journals of a data folder."""
    is_any = any((folder / "applying").glob("*.json"))
    return git_workspaces.GitWorkspaces(folder).list_unfinished_applies() if is_any else ()


class SqliteFiles:
    """Implements the port `LogFiles` with SQLite."""

    @property
    def version(self) -> str:
        """The version of SQLite."""
        return sqlite_version()

    def path(self, folder: Path) -> Path:
        """Return the database file of a folder."""
        return folder / FILE

    def open(self, folder: Path) -> Log:
        """Open the log of a folder, creating it if it does not exist; read-only if nothing can be written."""
        return open_readable(folder)

    def salvage(self, folder: Path) -> "Salvage":
        """Truncate a damaged log to its intact part."""
        return salvage_folder(folder)


def this_machine() -> Machine:
    """Return the machine on which this process runs."""
    return Machine(
        GitRepositories(user_folders(os.environ).data),
        LocalProcesses(),
        LocalPrograms(),
        SqliteFiles(),
        BuiltInCatalog(),
        Bubblewrap(),
        Tmux(),
        process_redactor,
        lambda: TrustStore(user_folders(os.environ)),
        lambda named: filter_environment(os.environ, named),
        lambda: local_care.LocalIssueCare(),  # noqa: PLW0108 (loaded when used)
    )

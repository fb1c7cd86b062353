"""The machine that this process runs on, behind its ports."""

from pathlib import Path

from handrail.agents.registry import BuiltInCatalog
from handrail.ports.log import Log
from handrail.ports.log_care import Salvage
from handrail.ports.machine import Machine
from handrail.processes.environment import redactor_here
from handrail.processes.local import LocalProcesses
from handrail.processes.local_programs import LocalPrograms
from handrail.store.sqlite.connection import FILE
from handrail.store.sqlite.database import sqlite_version
from handrail.store.sqlite.log import open_log, salvage_folder
from handrail.workspace.git_repositories import GitRepositories
from handrail.workspace.sandbox import Bubblewrap
from handrail.workspace.tmux import Tmux


class SqliteFiles:
    """The port `LogFiles`, on SQLite."""

    @property
    def version(self) -> str:
        """The version of SQLite."""
        return sqlite_version()

    def path(self, folder: Path) -> Path:
        """Give the database file of a folder."""
        return folder / FILE

    def open(self, folder: Path) -> Log:
        """Open the log of a folder, making it when it does not exist."""
        return open_log(folder)

    def salvage(self, folder: Path) -> Salvage:
        """Cut a damaged log back to what is intact."""
        return salvage_folder(folder)


def this_machine() -> Machine:
    """Give the machine that this process runs on."""
    return Machine(
        GitRepositories(),
        LocalProcesses(),
        LocalPrograms(),
        SqliteFiles(),
        BuiltInCatalog(),
        Bubblewrap(),
        Tmux(),
        redactor_here,
    )

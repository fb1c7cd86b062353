"""Where logs are stored: opened, examined and repaired by the folder that they are in."""

from pathlib import Path
from typing import Protocol

from handrail.ports.log import Log
from handrail.ports.storage.log_care import Salvage


class LogFiles(Protocol):
    """A kind of store on this machine."""

    @property
    def version(self) -> str:
        """The version of the library that reads and writes."""
        ...

    def path(self, folder: Path) -> Path:
        """Return the path of a folder's log file, whether it exists or not."""
        ...

    def open(self, folder: Path) -> Log:
        """Open the log of a folder, creating it if it does not exist."""
        ...

    def salvage(self, folder: Path) -> Salvage:
        """Cut a damaged log back to what is intact; a copy of the file is retained."""
        ...

"""Where logs are stored: opened, checked and repaired by the folder that they are in; and what was found."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from handrail.frozen import frozen

if TYPE_CHECKING:
    from handrail.ports.log import Log


@frozen
class Finding:
    """Something that is not as it was written; of a stream, the first `intact` events still are."""

    part: Literal["database", "stream", "blob", "checkpoint", "run", "inbox", "timer", "issue"]
    name: str
    problem: str
    intact: int = 0


@frozen
class Report:
    """The results of a check."""

    findings: tuple[Finding, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Whether everything is as it was written."""
        return not self.findings


@frozen
class TruncatedStream:
    """A stream that lost its damaged tail: `kept` events remain, `moved` rows are set aside, `lost` cannot be read."""

    stream: str
    kept: int
    moved: int
    lost: int = 0


@frozen
class Salvage:
    """What a salvage did: `copy` is the damaged file as it was found; `left` could not be repaired."""

    cuts: tuple[TruncatedStream, ...] = ()
    copy: str | None = None
    left: tuple[Finding, ...] = ()


class LogFiles(Protocol):
    """A kind of store on this machine."""

    @property
    def version(self) -> str:
        """The version of the library that reads and writes."""
        ...

    def path(self, folder: Path) -> Path:
        """Return the path of a folder's log file, whether it exists or not."""
        ...

    def open(self, folder: Path) -> "Log":
        """Open the log of a folder, creating it if it does not exist."""
        ...

    def salvage(self, folder: Path) -> Salvage:
        """Cut a damaged log back to what is intact; a copy of the file is retained."""
        ...

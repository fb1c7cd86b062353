"""Programs of the machine: which are installed, and Handrail itself as a process that nobody waits for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from handrail.frozen import frozen


@frozen
class Installed:
    """A program that is there, with the version that it says of itself, if it does."""

    version: str | None


class Detached(Protocol):
    """A process that was started; whoever has this must close it."""

    @property
    def output(self) -> Path:
        """The file that it writes to."""
        ...

    def has_ended(self, within: float) -> bool:
        """Wait a little, and tell whether it is over."""
        ...

    def ended_well(self) -> int | None:
        """Give its process id if it is over and ended well; to be asked once."""
        ...

    def last_words(self) -> str:
        """Give what it said, without the beginning where that is long."""
        ...

    def close(self) -> None:
        """Take no more notice of it."""
        ...


class Programs(Protocol):
    """Finds and starts programs."""

    def find(self, names: Iterable[str]) -> Mapping[str, Installed | None]:
        """Look for programs, all at once; None for one that is not there."""
        ...

    def exit_code_of(self, name: str, words: Iterable[str]) -> int | None:
        """Ask a program something and give how it ended; None where it is not there or takes too long."""
        ...

    def start_detached(self, words: Sequence[str], environ: Mapping[str, str], output: Path) -> Detached:
        """Run a command line of Handrail in a session of its own; what it says goes to a private file."""
        ...

    def environment_marks(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Give a mark for each variable that commands see, which differs where the value differs."""
        ...

"""Programs of the machine: which are installed, and Handrail itself as a process that nobody waits for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from handrail.frozen import frozen


@frozen
class InstalledProgram:
    """A program that is installed, with the version that it reports, if it does."""

    version: str | None


@frozen(kw_only=True)
class ProgramCall:
    """A call of a program whose answer is read: never through a shell."""

    name: str
    words: tuple[str, ...]
    folder: str
    """The folder in which it runs."""
    text: str = ""
    """What it reads from its standard input."""
    timeout: float = 30.0
    """Seconds after which it is ended."""


@frozen(kw_only=True)
class ProgramAnswer:
    """How a program answered a call."""

    exit_code: int
    output: str
    errors: str
    problem: str = ""
    """Why there is no answer to rely on: it took too long, or printed too much."""


AskProgram: TypeAlias = Callable[[ProgramCall], ProgramAnswer | None]
"""Calls a program; None if it is not installed."""


class DetachedProgram(Protocol):
    """A process that was started; whoever has this must close it."""

    @property
    def output(self) -> Path:
        """The file that it writes to."""
        ...

    def has_ended(self, within: float) -> bool:
        """Wait a little, and return whether it is over."""
        ...

    def poll_finished_pid(self) -> int | None:
        """Return its process id if it is over and succeeded; to be asked once."""
        ...

    def last_words(self) -> str:
        """Return its output, without the beginning if that is long."""
        ...

    def close(self) -> None:
        """Stop watching it."""
        ...


class Programs(Protocol):
    """Finds and starts programs."""

    def find(self, names: Iterable[str]) -> Mapping[str, InstalledProgram | None]:
        """Look for programs, all at once; None for one that is not installed."""
        ...

    def exit_code_of(self, name: str, words: Iterable[str]) -> int | None:
        """Run a program and return its exit code; None if it is not installed or takes too long."""
        ...

    def start_detached(self, words: Sequence[str], environ: Mapping[str, str], output: Path) -> DetachedProgram:
        """Run a command line of Handrail in a session of its own; its output goes to a private file."""
        ...

    def environment_marks(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Compute a mark for each variable that commands see, which differs if the value differs."""
        ...

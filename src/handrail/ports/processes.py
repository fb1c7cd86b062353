"""Commands that outlive the process that started them: their output and exit status are stored in a folder."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from handrail.frozen import frozen

DEFAULT_LIMIT = 64 << 20
"""Bytes that one stream may grow to before the command is ended."""

MARK = "HANDRAIL_MARK"
"""The environment variable by which a command's processes are found wherever they went."""

Stream: TypeAlias = Literal["stdout", "stderr"]


@frozen
class StdinChannel:
    """A standard input that stays open while the command works; it survives whoever started the command."""

    folder: str
    """Each file in it is written to the command, whole and once, in order of the names, except those with a dot."""
    until: str
    """The input is closed as soon as the command prints this."""


@frozen
class ProcessSpec:
    """What to run, and the folder that makes it one process however often it is started."""

    key: str
    """The idempotency key of the effect: the run and the seq of its intent."""
    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...]
    """The whole environment; nothing is inherited."""
    folder: str
    """Where `stdout`, `stderr`, `status` and `process.json` are stored; one folder for one process."""
    limit_bytes: int = DEFAULT_LIMIT
    once: bool = False
    """It must not run twice: that it was started is on disk before it begins."""
    talk: StdinChannel | None = None
    """How it is sent input meanwhile."""
    stdin: bytes = b""
    """Its standard input, if it is sent nothing meanwhile."""
    secrets: tuple[tuple[str, str], ...] = ()
    """Variables whose values are masked in its output, beside those of its own environment."""

    @property
    def mark(self) -> str:
        """The value of `HANDRAIL_MARK`; the folder distinguishes equal keys of different databases."""
        return mark_of(self.key, self.folder)


@frozen
class Running:
    """The command was started; a process is identified by its id together with its start time."""

    pid: int
    started: str


@frozen
class Ended:
    """The command ended and left a status: an exit code or the signal that ended it."""

    exit_code: int | None
    signal: int | None = None
    stdout_size: int = 0
    stderr_size: int = 0
    reason: str | None = None
    """Why it could not start, or why Handrail ended it, in words for a person."""
    incomplete: bool = False
    """The disk was full when it ended: some of its output may be missing."""

    @property
    def code(self) -> int:
        """The exit code as a shell shows it: 128 + n for signal n."""
        return 128 + (self.signal or 0) if self.exit_code is None else self.exit_code


@frozen
class Gone:
    """The command was started, is not alive and left no status: it was killed from outside, or the machine crashed."""


@frozen
class TimedOut:
    """The command is still running after the given time."""


class Processes(Protocol):
    """Starts commands, finds them again after a restart, waits for them and ends them with all they started."""

    def start(self, spec: ProcessSpec) -> Running:
        """Start a command, or adopt the one that was started in this folder before."""
        ...

    def look(self, folder: str) -> Running | Ended | Gone | None:
        """Return the state of the command of a folder; None if nothing was started there."""
        ...

    def is_kept(self, folder: str) -> bool:
        """Whether a live keeper watches the command of a folder and removes the secrets from its output."""
        ...

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        """Wait until the command and all it started have ended."""
        ...

    async def end(self, folder: str, grace: tuple[float, float]) -> Ended | Gone:
        """End a command and all it started: INT, then TERM after the first grace, then KILL after the second."""
        ...

    def read_output(self, folder: str, stream: Stream, limit: int, tail: bool) -> bytes:
        """Read at most `limit` bytes of what it wrote, from the end if `tail`."""
        ...

    def find_by_marker(self, marker: str) -> Sequence[int]:
        """List the live processes that carry a mark, given in full or as the key alone."""
        ...


def mark_of(key: str, folder: str) -> str:
    """Build the mark of a command from its key and its folder."""
    return f"{key}@{folder}"

"""Every error that a surface may show, in one tree, split by whose fault it is.

    HandrailError
    ├── UsageError           the call is wrong: words, paths, names
    │   ├── NotFound         no such workflow, file, step
    │   └── NotConfigured    a workflow needs settings that are missing; carries the lines to add
    ├── InvalidWorkflow      a workflow file is wrong; carries its diagnostics
    ├── Untrusted            the content was never trusted, or has changed since
    ├── PersonOnly           an agent called what is reserved for people
    ├── LogConflict          another process was first
    │   ├── VersionConflict  the stream has moved on, or the message was consumed already
    │   ├── MessagesWaiting  an append that required an empty inbox found a message
    │   └── LeaseLost        another process drives the run now
    └── EnvironmentFault     the machine refuses: permissions, a full disk, a damaged file of Handrail's own
        ├── ProcessFault     a command of a run cannot be started or has no disk space
        ├── StorageFault     the log cannot be read or written: Storage{Full, Refused, Busy, TooNew, Damaged}
        ├── WorkspaceFault   git, or the state of a repository or worktree, does not allow the work to continue
        │   ├── GitSettingsChanged  settings that start programs differ from those at the run's set-up
        │   └── PushRefused  a remote refuses a branch, or cannot be reached
        └── TrackerFault     a tracker or code host refuses a call, or cannot be reached
            ├── TrackerBusy  it may be tried again at a time
            └── NoToken      nobody is logged in to the service

Each carries a stable code, the exit code, and what to do next.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from handrail.model.diagnostics import Diagnostic


class HandrailError(Exception):
    """Something went wrong that a person can act on."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class UsageError(HandrailError):
    """The call itself is wrong."""

    code = "usage"
    exit_code = 2


class NotFound(UsageError):
    """Something that was named does not exist."""

    code = "not-found"


class NotConfigured(UsageError):
    """A workflow needs settings that the configuration lacks; nothing was started."""

    code = "not-configured"

    def __init__(self, message: str, lines: Sequence[str] = (), *, next_step: str | None = None) -> None:
        super().__init__(message, next_step=next_step)
        self.lines = tuple(lines)


class InvalidWorkflow(HandrailError):
    """A workflow cannot be used as it is written."""

    code = "invalid-workflow"
    exit_code = 4

    def __init__(self, message: str, diagnostics: "Sequence[Diagnostic]" = (), *, next_step: str | None = None) -> None:
        super().__init__(message, next_step=next_step)
        self.diagnostics = tuple(diagnostics)


class Untrusted(HandrailError):
    """Content that may run code or commands has not been trusted by the user."""

    code = "untrusted"
    exit_code = 3


class PersonOnly(HandrailError):
    """An agent, or the command of a step, called what only a person may decide."""

    code = "person-only"
    exit_code = 3


class EnvironmentFault(HandrailError):
    """The machine refuses what is needed."""

    code = "environment"
    retryable = True


class LogConflict(HandrailError):
    """Another process wrote first; nothing of this append was recorded."""

    code = "log-conflict"
    retryable = True


class VersionConflict(LogConflict):
    """A stream is not at the version that the writer expected."""

    code = "version-conflict"


class MessagesWaiting(LogConflict):
    """An append that required an empty inbox found a message."""

    code = "messages-waiting"


class LeaseLost(LogConflict):
    """The writer does not hold the newest lease of the stream."""

    code = "lease-lost"
    retryable = False


class ProcessFault(EnvironmentFault):
    """A command of a run cannot be started, or there is no disk space for its output."""

    code = "process"
    exit_code = 3


class StorageFault(EnvironmentFault):
    """The machine does not allow the log to be read or written."""

    code = "storage"
    exit_code = 3


class WorkspaceFault(EnvironmentFault):
    """A repository or a worktree does not allow what is needed; `files` names those in the way."""

    code = "workspace"

    def __init__(self, message: str, *, next_step: str | None = None, files: Sequence[str] = ()) -> None:
        super().__init__(message, next_step=next_step)
        self.files = tuple(files)


class GitSettingsChanged(WorkspaceFault):
    """Settings that make the user's git start programs have changed since the run was set up; a person must check."""

    code = "git-settings-changed"
    exit_code = 3
    retryable = False

    def __init__(self, message: str, *, next_step: str, changes: Sequence[str]) -> None:
        super().__init__(message, next_step=next_step)
        self.changes = tuple(changes)


class PushRefused(WorkspaceFault):
    """A remote refuses a branch, or cannot be reached; everything that was to be pushed is still there."""

    code = "push-refused"
    exit_code = 3


class TrackerFault(EnvironmentFault):
    """A tracker or a code host refuses a call, or cannot be reached."""

    code = "tracker"
    exit_code = 3


class TrackerBusy(TrackerFault):
    """A tracker or a code host asks to wait; `until` is the time from which a call may be tried again."""

    code = "tracker-busy"

    def __init__(self, message: str, *, until: float, next_step: str | None = None) -> None:
        super().__init__(message, next_step=next_step)
        self.until = until


class NoToken(TrackerFault):
    """There is no token for a tracker or a code host, so nothing was called."""

    code = "no-token"


class StorageFull(StorageFault):
    """There is no disk space for what has to be recorded."""

    code = "storage-full"


class StorageRefused(StorageFault):
    """The log may not be opened or written: permissions, a read-only disk."""

    code = "storage-refused"


class StorageBusy(StorageFault):
    """Another process had the log locked for too long."""

    code = "storage-busy"


class StorageTooNew(StorageFault):
    """The log was written by a newer Handrail."""

    code = "storage-too-new"
    retryable = False


class StorageDamaged(StorageFault):
    """Recorded bytes are not what was written; `intact` events of `stream`, if one is named, can still be read."""

    code = "storage-damaged"
    retryable = False

    def __init__(self, message: str, *, next_step: str | None = None, stream: str = "", intact: int = 0) -> None:
        super().__init__(message, next_step=next_step)
        self.stream = stream
        self.intact = intact

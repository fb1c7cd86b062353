"""Every error that a surface may show, in one tree, split by whose fault it is.

    HandrailError
    ├── UsageError           the call is wrong: words, paths, names
    │   └── NotFound         no such workflow, file, step
    ├── InvalidWorkflow      a workflow file is wrong; carries its diagnostics
    ├── Untrusted            the content was never trusted, or has changed since
    └── EnvironmentFault     the machine refuses: permissions, a full disk, a broken file of our own

Each carries a stable code, the exit code, and what to do next.
"""

from collections.abc import Sequence
from typing import ClassVar

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


class InvalidWorkflow(HandrailError):
    """A workflow cannot be used as it is written."""

    code = "invalid-workflow"
    exit_code = 4

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), *, next_step: str | None = None) -> None:
        super().__init__(message, next_step=next_step)
        self.diagnostics = tuple(diagnostics)


class Untrusted(HandrailError):
    """Content that may run code or commands has not been trusted by the user."""

    code = "untrusted"
    exit_code = 3


class EnvironmentFault(HandrailError):
    """The machine refuses what is needed."""

    code = "environment"
    retryable = True

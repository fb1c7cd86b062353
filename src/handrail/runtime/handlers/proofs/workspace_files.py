"""Files of a workspace, found by paths that an author or an agent wrote: nothing outside is ever reached."""

import errno
import os
import stat
from pathlib import Path

from handrail.model.names import path_problem

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class UnusablePath(Exception):
    """A path cannot be used; the message explains why."""


def resolve_inside(workspace: str, path: str) -> Path:
    """Resolve a path; it must exist, and be in the workspace with all links followed."""
    reason = "is empty" if not path.strip() else path_problem(path)
    if reason is not None:
        raise UnusablePath(f"the path {reason}")
    try:
        root = Path(workspace).resolve(strict=True)
        found = (root / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise UnusablePath(_describe_error(error)) from error
    if not found.is_relative_to(root):
        raise UnusablePath("a link in it leads outside the workspace")
    return found


def read_inside(workspace: str, path: str, most: int, since: float | None) -> bytes:
    """Read a file of the workspace that is not too large, nor older than `since`."""
    found = resolve_inside(workspace, path)
    try:
        with os.fdopen(os.open(found, _FLAGS), "rb") as file:
            known = os.fstat(file.fileno())
            if not stat.S_ISREG(known.st_mode):
                raise UnusablePath("it is not a file")
            if since is not None and known.st_mtime < since:
                raise UnusablePath("it is older than the step: the step did not write it")
            if known.st_size > most:
                raise UnusablePath(f"it is larger than {most >> 20} MiB")
            return file.read(most + 1)
    except OSError as error:
        raise UnusablePath(_describe_error(error)) from error


def _describe_error(error: Exception) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "it does not exist"
    # Python before 3.13 raises RuntimeError for links that form a loop.
    if isinstance(error, RuntimeError) or (isinstance(error, OSError) and error.errno == errno.ELOOP):
        return "its links form a loop"
    return f"it cannot be read: {error.strerror if isinstance(error, OSError) else error}"

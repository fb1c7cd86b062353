"""Writes files so that a reader sees the old content or the new, never half of it."""

import os
import shlex
import tempfile
from pathlib import Path

from handrail.errors import EnvironmentFault, UsageError
from handrail.sources.foreign_files import printable, reason


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file's content atomically, keeping its permissions."""
    try:
        _replace(path, content)
    except OSError as error:
        message = f"{printable(str(path))} cannot be written: {reason(error)}"
        next_step = (
            f"check the permissions of {printable(str(path.parent))} and the space on its disk; the file is unchanged"
        )
        raise EnvironmentFault(message, next_step=next_step) from error


def _replace(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def refuse_link_elsewhere(path: Path) -> Path:
    """Return the file that a path means; refuse a link that leads out of its folder."""
    real = path.resolve()
    if not real.is_relative_to(path.parent.resolve()):
        raise UsageError(
            f"'{path}' is a link that leads to '{real}'", next_step=f"name that file itself: {shlex.quote(str(real))}"
        )
    return real


def _umask() -> int:
    # There is no way to read the mask without setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

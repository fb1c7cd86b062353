"""Reads files that somebody else wrote: bounded, never blocking, never outside the folder they belong to."""

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from handrail.authoring.readers.limits import MAX_BYTES
from handrail.frozen import frozen

OUTSIDE = "it leads outside the workflow's folder"
NOT_TEXT = "it is not UTF-8 text"
TOO_LARGE = "it is larger than 1 MiB"
NOT_A_FILE = "it is not a regular file"
SHUT_FOLDER = "it is a folder that cannot be read"
NOT_THERE = "it does not exist"


class Refusal(str):
    """Why a file may not be used, as the end of a sentence about it."""

    __slots__ = ()


@frozen
class FileContent:
    """A file as it was read once: exactly these bytes are trusted, compiled and shown."""

    path: Path
    """Absolute; links are followed up to its workflow's folder, not inside it."""
    data: bytes | Refusal

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes; for a file that may not be used, of the reason instead."""
        from hashlib import sha256  # noqa: PLC0415 (slow to load, and most commands ask for no digest)

        if isinstance(self.data, Refusal):
            return sha256(b"handrail refused\0" + self.data.encode("utf-8", "replace")).hexdigest()
        return sha256(self.data).hexdigest()


def read_content(path: Path, root: Path) -> FileContent | None:
    """Read a file inside a folder; None where there is no such file."""
    data = read_bytes(path, root)
    return None if data == NOT_THERE else FileContent(real(path.parent) / path.name, data)


def read_bytes(path: Path, root: Path) -> bytes | Refusal:
    """Read a regular file inside a folder, symbolic links followed; otherwise return why not."""
    try:
        found = path.resolve(strict=True)
        return _read_regular(found) if found.is_relative_to(real(root)) else Refusal(OUTSIDE)
    except FileNotFoundError:
        return Refusal("it is a link that leads nowhere" if path.is_symlink() else NOT_THERE)
    except (OSError, ValueError) as error:
        return Refusal(f"it cannot be read: {reason(error)}")
    except RuntimeError:
        return Refusal("it is a link that leads to itself")


def decode(data: bytes) -> str | Refusal:
    """Decode UTF-8 text, or return that it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return Refusal(NOT_TEXT)


def scan(folder: Path, most: int | None = None) -> list[os.DirEntry[str]]:
    """List a folder's visible entries in order of their names; more than `most` of them are an error."""
    with os.scandir(folder) as entries:
        shown = (entry for entry in entries if entry.name[0] != "." and entry.name != "__pycache__")
        visible = list(islice(shown, None if most is None else most + 1))
    if most is not None and len(visible) > most:
        raise OSError(errno.EFBIG, f"it holds more than {most} files and folders")
    return sorted(visible, key=lambda entry: entry.name)


def walk(root: Path, folder: str, depth: int) -> Iterator[str]:
    """Yield the paths of all files below a folder, relative to the root; an unreadable folder is yielded itself."""
    try:
        entries = scan(root / folder) if is_inside(root / folder, root) else None
    except OSError:
        entries = None
    if entries is None:
        yield folder
        return
    for entry in entries:
        path = str(PurePosixPath(folder) / entry.name)
        if not _is_folder_inside(entry, root):
            yield path
        elif depth > 1:
            yield from walk(root, path, depth - 1)


def real(path: Path) -> Path:
    """Resolve the symbolic links of a path, as far as they lead anywhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path, its symbolic links followed, stays in a folder."""
    try:
        return path.resolve().is_relative_to(real(root))
    except (OSError, RuntimeError, ValueError):
        return False


def is_contained(relative: str) -> bool:
    """Whether a path as written stays below the folder it starts from."""
    path = PurePosixPath(relative)
    hostile = not relative or "\0" in relative or "\\" in relative
    return not hostile and not path.is_absolute() and ".." not in path.parts


def printable(text: str) -> str:
    """Escape a name so that it can be printed and stored, whatever bytes it consists of."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def reason(error: BaseException) -> str:
    """Return the system's description of a failure."""
    text = error.strerror if isinstance(error, OSError) else str(error)
    return (text or type(error).__name__).lower()


def _read_regular(path: Path) -> bytes | Refusal:
    kind = path.stat().st_mode
    if not stat.S_ISREG(kind):
        return Refusal(SHUT_FOLDER if stat.S_ISDIR(kind) else NOT_A_FILE)
    # It may have been replaced since: O_NONBLOCK and O_NOFOLLOW make a pipe or a link harmless.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return Refusal(NOT_A_FILE)
        data = file.read(MAX_BYTES + 1)
    return data if len(data) <= MAX_BYTES else Refusal(TOO_LARGE)


def _is_folder_inside(entry: os.DirEntry[str], root: Path) -> bool:
    try:
        return entry.is_dir() and (not entry.is_symlink() or is_inside(Path(entry.path), root))
    except OSError:
        return False

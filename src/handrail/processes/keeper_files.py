"""The two files that a keeper writes, `process.json` and `status`, correct even after a full disk or a power failure.

The keeper uses this module, so it needs only the standard library.

1. The keeper of a command is recorded before the command runs. A command that must not run twice waits until the
record is on disk: one fsync, after the link, so that content and name are on it together. One that may run twice waits
for no disk: if the record is lost in a power failure, it is started again, and its earlier output is dropped. The
command's own process id is added once it runs, and need not be on disk: after a power failure nothing runs any more.
2. The space for the status is allocated before anything runs, so that a disk that fills up cannot lose it.
3. A status contains the size of the output. If a power failure took some of that, the status does not count
(`process_folder`), so it needs no fsync: if it is lost or torn, the command counts as cut off, as it may have been.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

RESERVED_BYTES = 4096
"""How much space is reserved for the status, in bytes."""
_RECORD = 1024
"""The size of a record in bytes: padded with spaces, so that a longer one can overwrite it."""


def claim(folder: Path, record: Mapping[str, object], *, durable: bool) -> str:
    """Claim a folder for the command which is about to begin; else return why not, `taken` if another was first."""
    name, reserved, draft = folder / "process.json", reserve_path(folder), folder / f"process.json.{os.getpid()}.tmp"
    try:
        _write(reserved, b" " * RESERVED_BYTES)
        _write(draft, _padded(record))
        os.link(draft, name)
        _begin(name, durable=durable)
    except FileExistsError:
        return _abandon_claim(reserved, "taken")
    except OSError as error:
        return _abandon_claim(reserved, error.strerror or str(error))
    finally:
        _remove(draft)
    return ""


def write_record(folder: Path, record: Mapping[str, object]) -> None:
    """Add to the record of a folder that is claimed."""
    # It overwrites the old record, which starts with the same bytes: a reader finds one of the two, or invalid JSON,
    # and reads again. If the folder is gone, the command goes on without it, and is found by its mark.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder / "process.json", os.O_WRONLY)
        try:
            os.pwrite(descriptor, _padded(record), 0)
        finally:
            os.close(descriptor)


def _padded(record: Mapping[str, object]) -> bytes:
    return json.dumps(record).encode().ljust(_RECORD)


def reserve_path(folder: Path) -> Path:
    """Return the file that reserves space for the status which this process will write."""
    return folder / f"status.{os.getpid()}"


def write_status(folder: Path, status: Mapping[str, object]) -> None:
    """Write the status atomically, in the space that was reserved for it."""
    # If the folder was deleted the status is lost, but the keeper still has to end the rest of the tree.
    with contextlib.suppress(OSError):
        draft = reserve_path(folder)
        _write(draft, json.dumps(status).encode())
        draft.replace(folder / "status")


def has_room(folder: Path) -> bool:
    """Whether the disk accepts another block; if not, the last output of a command may be missing."""
    # Behind the space reserved for the status: on some file systems a new file takes as long as everything else here.
    try:
        descriptor = os.open(reserve_path(folder), os.O_WRONLY)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return os.pwrite(descriptor, bytes(RESERVED_BYTES), RESERVED_BYTES) == RESERVED_BYTES
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, RESERVED_BYTES)
        os.close(descriptor)


def remove_drafts(folder: Path, keeper: int) -> None:
    """Remove the drafts of a keeper that was killed."""
    for name in (f"process.json.{keeper}.tmp", f"room.{keeper}.tmp", f"status.{keeper}"):
        _remove(folder / name)


def _begin(name: Path, *, durable: bool) -> None:
    try:
        for output in (1, 2):
            os.ftruncate(output, 0)
        if durable:
            _sync(name)
    except OSError:
        # Nothing has run yet, so the claim can be withdrawn.
        _remove(name)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes) -> None:
    # Never truncated first: that would free the reserved space.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        written = 0
        while written < len(content):
            written += os.write(descriptor, content[written:])
        os.ftruncate(descriptor, written)
    finally:
        os.close(descriptor)


def _abandon_claim(reserved: Path, words: str) -> str:
    _remove(reserved)
    return words


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)

"""The two files that a keeper writes, `process.json` and `status`, so that neither a full disk nor a power cut lies.

The keeper uses it, so it needs the standard library only.

1. Who keeps a command is known before it runs. What must not run twice waits until that is on the disk: one fsync,
   after the link, so that content and name are on it together. What may run twice waits for no disk: if the record is
   lost with the power, it is started anew, and whatever had been written before is dropped. The command's own number
   comes into the record once it runs, and the disk need not have it: after a power failure nothing runs any more.
2. The room for the status is taken before anything runs, so that a disk that fills up meanwhile cannot lose it.
3. A status tells how much output there was. If the power took some of that, the status does not count (`records`), so
   it needs no fsync: lost or torn, the command is taken for one that was cut off, as it may well have been.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

ROOM = 4096
"""Bytes that are kept free for the status."""


def claim(folder: Path, record: Mapping[str, object], *, durable: bool) -> str:
    """Make a folder that of the command which is about to begin; else say why not, `taken` if another was first."""
    name, reserved, draft = folder / "process.json", reserved_in(folder), _draft_in(folder)
    try:
        _write(reserved, b" " * ROOM)
        _write(draft, json.dumps(record).encode())
        os.link(draft, name)
        _begin(name, durable=durable)
    except FileExistsError:
        return _without(reserved, "taken")
    except OSError as error:
        return _without(reserved, error.strerror or str(error))
    finally:
        _remove(draft)
    return ""


def write_record(folder: Path, record: Mapping[str, object]) -> None:
    """Say more about the command of a folder that is claimed."""
    # Where the disk is full, or the folder gone, the command goes on without, and is found by its mark.
    with contextlib.suppress(OSError):
        draft = _draft_in(folder)
        try:
            _write(draft, json.dumps(record).encode())
            draft.replace(folder / "process.json")
        except OSError:
            _remove(draft)


def _draft_in(folder: Path) -> Path:
    return folder / f"process.json.{os.getpid()}.tmp"


def reserved_in(folder: Path) -> Path:
    """Name the file that keeps room for the status which this process will write."""
    return folder / f"status.{os.getpid()}"


def write_status(folder: Path, status: Mapping[str, object]) -> None:
    """Leave the status in one move, in the room that was kept for it."""
    # With a deleted folder the status is lost, but the keeper has still to end the rest of the tree.
    with contextlib.suppress(OSError):
        draft = reserved_in(folder)
        _write(draft, json.dumps(status).encode())
        draft.replace(folder / "status")


def has_room(folder: Path) -> bool:
    """Whether the disk takes another block; if not, what a command wrote last may be missing."""
    probe = folder / f"room.{os.getpid()}.tmp"
    try:
        _write(probe, bytes(ROOM))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    finally:
        _remove(probe)
    return True


def remove_drafts(folder: Path, keeper: int) -> None:
    """Remove what a keeper that was killed was about to write."""
    for name in (f"process.json.{keeper}.tmp", f"room.{keeper}.tmp", f"status.{keeper}"):
        _remove(folder / name)


def _begin(name: Path, *, durable: bool) -> None:
    try:
        for output in (1, 2):
            os.ftruncate(output, 0)
        if durable:
            _sync(name)
    except OSError:
        # Nothing has run yet.
        _remove(name)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes) -> None:
    # Never emptied first: that would give back the room that was kept.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.truncate()


def _without(reserved: Path, words: str) -> str:
    _remove(reserved)
    return words


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)

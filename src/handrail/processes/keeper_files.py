"""The two files that a keeper writes, `process.json` and `status`, correct even after a full disk or a power failure.

The keeper uses this module, so it needs only the standard library.

1. The keeper of a command is recorded before the command runs. A command that must not run twice waits until the
record is on disk: one fsync, after the link, so that content and name are on it together. One that may run twice waits
for no disk: if the record is lost in a power failure, it is started again, and its earlier output is dropped. The
command's own process id is added once it runs, and need not be on disk: after a power failure nothing runs any more.
2. The space for the status is allocated before anything runs, so that a disk that fills up cannot lose it.
3. A status contains the size of the output. If a power failure took some of that, the status does not count
(`process_folder`), so it needs no fsync: if it is lost or torn, the command counts as cut off, as it may have been.
4. A keeper that has written its last status makes the files of another command ahead, which the next keeper finds, or
makes as it needs them: on some file systems a new file takes a good part of the time of a short command.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

RESERVED_BYTES = 4096
"""How much space is reserved for the status, in bytes."""
_SPACE = b" " * RESERVED_BYTES
_AHEAD = "ahead"
"""Stands for the keeper in the names of drafts that were made when it was not known yet."""
_RECORD = 1024
"""The size of a record in bytes: padded with spaces, so that a longer one can overwrite it."""


class KeeperFiles:
    """The record and the status of one command, each opened once: who waits for the command waits for every open."""

    def __init__(self, folder: str, outputs: tuple[int, ...] = (1, 2), *, ahead: bool = False) -> None:
        self._outputs = outputs
        """Where the command will write: what an earlier start wrote there is dropped."""
        self._record_path, self._status_path = f"{folder}/process.json", f"{folder}/status"
        self._draft, self._reserve = (
            f"{folder}/{name}" for name in _list_drafts(_AHEAD if ahead else str(os.getpid()))
        )
        self._record: int | None = None
        """The record, until the command is named in it."""
        self._reserved: int | None = None
        """The space for the status, until a status is written to it."""

    def claim(self, record: Mapping[str, object], *, durable: bool) -> str:
        """Claim the folder for the command which is about to begin; else return why not, `taken` if another was first.

        Once the command runs, `name_command` has to be called.
        """
        try:
            self._reserved = _create(self._reserve, _SPACE)
            self._record = _create(self._draft, _pad(record))
            os.link(self._draft, self._record_path)
            self._begin(self._record, durable=durable)
        except FileExistsError:
            return self._abandon_claim("taken")
        except OSError as error:
            return self._abandon_claim(error.strerror or str(error))
        return ""

    def name_command(self, record: Mapping[str, object]) -> None:
        """Add to the record of a folder that is claimed."""
        # It overwrites the old record, which starts with the same bytes: a reader finds one of the two, or invalid
        # JSON, and reads again. If the disk refuses, the command goes on without it, and is found by its mark.
        if self._record is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._record, _pad(record), 0)

    def drop_draft(self) -> None:
        """Remove the name under which the record was written; it has the other one."""
        self._record = _close(self._record)
        _remove(self._draft)

    def has_room(self) -> bool:
        """Whether the disk accepts another block; if not, the last output of a command may be missing."""
        # Behind the space reserved for the status: on some file systems a new file takes as long as everything else
        # here. What is written there goes when the status is written.
        if self._reserved is None:
            return True
        try:
            return os.pwrite(self._reserved, bytes(RESERVED_BYTES), RESERVED_BYTES) == RESERVED_BYTES
        except OSError:
            return False

    def write_status(self, status: Mapping[str, object]) -> bool:
        """Write the status atomically, in the space that was reserved for it; return whether it was written."""
        # If the folder was deleted the status is lost, but the keeper still has to end the rest of the tree.
        with contextlib.suppress(OSError):
            content = json.dumps(status).encode()
            try:
                self._put_status(content)
            except FileNotFoundError:
                # The reserved file is gone, but the folder may be there.
                self._put_status(content)
            return True
        return False

    def _put_status(self, content: bytes) -> None:
        # Never truncated first: that would free the reserved space.
        file, self._reserved = self._reserved, None
        _write(_open(self._reserve) if file is None else file, content)
        os.replace(self._reserve, self._status_path)  # noqa: PTH105 - somebody waits for it: this is the quick way

    def _begin(self, record: int, *, durable: bool) -> None:
        try:
            for output in self._outputs:
                if os.fstat(output).st_size:
                    os.ftruncate(output, 0)
            if durable:
                os.fsync(record)
        except OSError:
            # Nothing has run yet, so the claim can be withdrawn.
            _remove(self._record_path)
            raise

    def _abandon_claim(self, words: str) -> str:
        self._reserved = _close(self._reserved)
        _remove(self._reserve)
        self.drop_draft()
        return words


def make_ahead(path: str, name: str) -> None:
    """Make a folder with the folder of another command in it, ready to be moved (`launch`), if the disk takes it."""
    draft, inner = f"{path}.new", f"{path}.new/{name}"
    with contextlib.suppress(OSError):
        for folder in (draft, inner):
            os.mkdir(folder, 0o700)  # noqa: PTH102 - as above
        for each, content in zip(("stdout", "stderr", *_list_drafts(_AHEAD)), (b"", b"", b"", _SPACE), strict=True):
            os.close(_create(f"{inner}/{each}", content))
        os.rename(draft, path)  # noqa: PTH104 - as above


def remove_drafts(folder: Path, keeper: int) -> None:
    """Remove the drafts of a keeper that was killed."""
    for name in (*_list_drafts(str(keeper)), *_list_drafts(_AHEAD), f"room.{keeper}.tmp"):
        _remove(f"{folder}/{name}")


def _list_drafts(owner: str) -> tuple[str, str]:
    """Return the names of the draft of the record, and of the file that reserves space for the status."""
    # What lies ready is not a draft that somebody forgot.
    return f"process.json.{owner}" + ".tmp" * (owner != _AHEAD), f"status.{owner}"


def _pad(record: Mapping[str, object]) -> bytes:
    return json.dumps(record).encode().ljust(_RECORD)


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)


def _create(path: str, content: bytes) -> int:
    """Write a file, and return it still open; space that was reserved ahead is left as it is."""
    descriptor = _open(path)
    try:
        if content is not _SPACE or os.fstat(descriptor).st_size != RESERVED_BYTES:
            _fill(descriptor, content)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _write(descriptor: int, content: bytes) -> None:
    try:
        _fill(descriptor, content)
    finally:
        os.close(descriptor)


def _fill(descriptor: int, content: bytes) -> None:
    """Replace what is in a file."""
    written = 0
    while written < len(content):
        written += os.pwrite(descriptor, content[written:], written)
    if os.fstat(descriptor).st_size != written:
        os.ftruncate(descriptor, written)


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - as above

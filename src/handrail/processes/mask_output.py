"""Masks secrets in the output of a command, in the very file that it writes to, while it writes.

A command writes straight to its files, so that it can go on when Handrail and the keeper die. A process in between
would make that impossible. So the keeper follows the file and overwrites each secret with a mask of the same length:
a command that only appends is never disturbed, and sizes and offsets do not change.

A secret is in the file, which only its owner can read, from when it is written until the keeper's next check:
a fifth of a second at most after the end of its line, and in any case not beyond the command's end. If the keeper
is killed, it stays there until Handrail reads the file: what is read is masked again. If the keeper has processed a
file to its end, only values have to be searched then: those that the reader knows, and the keeper did not.

The keeper uses this module, so it needs only the standard library.
"""

import contextlib
import os
from pathlib import Path

from handrail.model.secrets.redaction import Redactor

BLOCK = 1 << 20
AROUND = 8 << 10
"""Bytes that are read around a part of a file, so that a secret at its edge is recognized."""


class MaskedFile:
    """One output of a command, masked as it grows."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._redactor = redactor
        self._file = _open(path)
        self._done = 0
        self._size = 0
        self.complete = False
        """Whether nothing is left to be masked."""

    def look(self, *, last: bool = False) -> None:
        """Mask the complete part of what was written since; all of it when nothing will follow."""
        # A failing disk must not prevent the keeper from recording how the command ended.
        with contextlib.suppress(OSError):
            size = 0 if self._file is None else os.fstat(self._file).st_size
            if self._file is None or (size == self._size and not last):
                return
            self._size = size
            while self._step(self._file, last=last):
                pass
            if last:
                os.close(self._file)
                self._file, self.complete = None, True

    def _step(self, file: int, *, last: bool) -> bool:
        data = self._read_block(file)
        whole = last and len(data) < BLOCK
        settled = len(data) if whole else self._redactor.stable_length(data)
        if settled:
            masked = self._redactor.data(data)[:settled]
            if masked != data[:settled]:
                os.pwrite(file, masked, self._done)
            self._done += settled
        return bool(settled) and len(data) == BLOCK

    def _read_block(self, file: int) -> bytes:
        """Read the next block, into no more memory than is needed: that of a whole block takes longer than the rest."""
        room = min(BLOCK, max(os.fstat(file).st_size - self._done, 0) + AROUND)
        data = os.pread(file, room, self._done)
        # It grew at this very moment.
        return os.pread(file, BLOCK, self._done) if len(data) == room < BLOCK else data


def read_masked(path: Path, redactor: Redactor, limit: int, *, tail: bool, again: bool = False) -> bytes:
    """Read at most `limit` bytes of a file, from its end if `tail`, without the secrets in it.

    `again` means that the forms of credentials were masked in it already.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - limit) if tail else 0
        before = min(start, AROUND)
        file.seek(start - before)
        # No more memory than is needed: that of a large limit takes longer than reading a short output.
        most = min(before + limit + AROUND, size - start + before)
        data = redactor.data(file.read(most), forms=not again)
        return data[before : before + limit]


def _open(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    return None

"""A command's standard input that stays open: messages that others put into a folder are written to it.

The keeper uses this module, so it needs only the standard library.

1. The keeper holds the input, so that it outlives the sender, and ends with the one process that could write to it.
2. Each file is one message. It is written whole and once, in the order of the names: a sender that dies in the middle
leaves no half message, which the command could not parse.
3. The input is closed as soon as the command prints that it is done, without asking anybody: it never waits for us.
"""

import contextlib
import os
from pathlib import Path

BLOCK = 1 << 20
PAUSE = 0.02
"""Seconds between two checks while the input is open: a command that is done is to end at once."""
NEVER = 86_400.0


class StdinWriter:
    """The open standard input of one command."""

    def __init__(self, folder: str, until: str, printed: Path) -> None:
        self.theirs, self._ours = os.pipe()
        os.set_blocking(self._ours, False)
        self._folder = folder
        self._until = until.encode()
        self._printed = os.open(printed, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._read = 0
        self._tail = b""
        self._over = False
        self._left = b""
        self._said: set[str] = set()
        self.open = True

    def look(self) -> float:
        """Write new messages, close the input when the command is done, and return when to check again."""
        if self.open:
            self._speak()
        return PAUSE if self.open else NEVER

    def _speak(self) -> None:
        try:
            self._over = self._over or self._is_done()
            while (self._left or self._next()) and self._write():
                pass
        except OSError:
            self.close()  # the command reads no more, or a disk fails: nobody must wait for us
        if self._over and not self._left:
            self.close()

    @property
    def writable_descriptors(self) -> list[int]:
        """Descriptors that become writable when the command accepts more of a message that is partly written."""
        return [self._ours] if self.open and self._left else []

    def close(self) -> None:
        """Close the input, so that the command finds its end."""
        if self.open:
            self.open = False
            for each in (self._ours, self.theirs, self._printed):
                os.close(each)

    def _next(self) -> bool:
        """Read the next message, if there is one and the command is not done."""
        new = [] if self._over else sorted(set(os.listdir(self._folder)) - self._said)  # noqa: PTH208 - only the names
        name = next((each for each in new if not each.startswith(".")), "")
        if name:
            self._said.add(name)
            self._left = Path(self._folder, name).read_bytes()
        return bool(name)

    def _write(self) -> bool:
        """Write what the command accepts now; return whether the message is complete."""
        with contextlib.suppress(BlockingIOError):
            self._left = self._left[os.write(self._ours, self._left) :]
        return not self._left

    def _is_done(self) -> bool:
        while chunk := os.pread(self._printed, BLOCK, self._read):
            self._read += len(chunk)
            if self._until in self._tail + chunk:
                return True
            self._tail = (self._tail + chunk)[-len(self._until) :]
        return False

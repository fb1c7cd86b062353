"""Reads lines typed at the terminal without blocking."""

import os
import select
import sys
import termios

from handrail.frozen import frozen

MAX_LENGTH = 1 << 16


@frozen
class Keyboard:
    """The terminal at stdin, as long as this process runs in the foreground."""

    fd: int

    def read_line(self) -> str | None:
        """Return the line that was typed, empty for Ctrl-D at its beginning, or None if there is none yet."""
        if not self.is_in_foreground() or not select.select([self.fd], [], [], 0)[0]:
            return None
        try:
            return os.read(self.fd, MAX_LENGTH).decode(errors="replace")
        except OSError:
            # The terminal was closed: what happens to the run then is decided elsewhere.
            return None

    def forget(self) -> None:
        """Drop what was typed before anybody was asked."""
        if self.is_in_foreground():
            termios.tcflush(self.fd, termios.TCIFLUSH)

    def is_in_foreground(self) -> bool:
        """Whether this process runs in the foreground: reading from the background would stop it."""
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return True


def open_keyboard() -> Keyboard | None:
    """Return the keyboard if stdin is a terminal, else None."""
    return Keyboard(sys.stdin.fileno()) if sys.stdin.isatty() else None

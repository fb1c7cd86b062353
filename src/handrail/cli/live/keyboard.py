"""Lines that are typed at the terminal, taken without waiting for them."""

import os
import select
import sys
import termios

from handrail.frozen import frozen

LONGEST = 1 << 16


@frozen
class Keyboard:
    """The terminal at stdin, as long as this process is the one in front."""

    fd: int

    def line(self) -> str | None:
        """Give the line that was typed, empty for Ctrl-D at its beginning; None while there is none."""
        if not self.in_front() or not select.select([self.fd], [], [], 0)[0]:
            return None
        try:
            return os.read(self.fd, LONGEST).decode(errors="replace")
        except OSError:
            # The terminal was closed: what becomes of the run then is decided elsewhere.
            return None

    def forget(self) -> None:
        """Drop what was typed before anybody was asked."""
        if self.in_front():
            termios.tcflush(self.fd, termios.TCIFLUSH)

    def in_front(self) -> bool:
        """Whether what is typed is meant for this process: reading in the background would stop it."""
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return True


def keyboard() -> Keyboard | None:
    """Give the keyboard, if stdin is a terminal."""
    return Keyboard(sys.stdin.fileno()) if sys.stdin.isatty() else None

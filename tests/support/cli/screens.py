"""The real command line in a pseudo-terminal, seen as a person sees it: a screen of a given size, and keys."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyte

from support.cli.running import HANDRAIL

PATIENCE = 60.0
HISTORY = 5000
# The terminal has to control the process, so that its keys send signals.
_BOOT = "import fcntl,os,sys,termios; fcntl.ioctl(0,termios.TIOCSCTTY,0); os.execv(sys.argv[1],sys.argv[1:])"
MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z| \d\d:\d\d:\d\d)"), "TIME"),
    (re.compile(r"\b(\d+h\d\dm|\d+m\d\ds|\d+\.\ds|\d+s)(?!\w)"), "0.0s"),
    (re.compile(r"\b\d+:\d\d\b"), "0:00"),
    (re.compile(r"pinned [0-9a-f]{4}"), "pinned 0000"),
    (re.compile(r"process \d+( on \S+(?=\)))?"), "process PID"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "HASH"),
    (re.compile(r"\S*(/worktrees/[^/\s]+|…)/(?=\S)"), "WORKTREES/"),
)


class Screen:
    """A terminal with one process in it, which is over when the `with` block is."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | str,
        env: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
        program: str = HANDRAIL,
    ) -> None:
        self.columns = columns
        self.raw = b""
        """Everything that came, as it came."""
        self._screen = pyte.HistoryScreen(columns, rows, history=HISTORY, ratio=0.5)
        self._stream = pyte.ByteStream(cast("Any", self._screen))
        self._master, slave = pty.openpty()
        self._set_size(columns, rows)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, program, *argv],
            cwd=cwd,
            env={"TERM": "xterm-256color", "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **env},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process and whatever it left in its session's group."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the window."""
        if self._master >= 0:
            os.close(self._master)
        self._master, self._open = -1, False

    def until(self, wanted: str | Callable[[str], bool], patience: float = PATIENCE) -> str:
        """Read until a text is on the screen, or what is there is as wanted; give the screen.

        Lines end with their last character that is not blank, only the one with the cursor goes on up to it: `> `.
        """
        ends = time.monotonic() + patience
        while not (wanted in self._typing() if isinstance(wanted, str) else wanted(self._typing())):
            left = ends - time.monotonic()
            assert left > 0, f"{wanted!r} never came; the screen:\n{self.text()}"
            assert self._read(min(left, 1.0)), f"{wanted!r} did not come before the end; the screen:\n{self.text()}"
        return self.text()

    def type(self, text: str) -> None:
        """Type a text; `\\n` is the Enter key."""
        os.write(self._master, text.encode())

    def ctrl(self, key: str) -> None:
        """Press Ctrl with a key."""
        self.type(chr(ord(key.upper()) & 31))

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.columns = columns
        self._screen.resize(rows, columns)
        self._set_size(columns, rows)

    def kill(self) -> None:
        """Kill the process without a warning, and read what it had written."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.wait()

    def wait(self, patience: float = PATIENCE) -> int:
        """Read to the end and give the exit code."""
        ends = time.monotonic() + patience
        while self._read(0.05) and (self.process.poll() is None or self._ready(0.0)):
            assert time.monotonic() < ends, f"it does not end; the screen:\n{self.text()}"
        return self.process.wait(PATIENCE)

    def lines(self) -> list[str]:
        """Give the lines that were ever on the screen and are not erased, without the empty ones at the end."""
        seen = [*self._screen.history.top, *(self._screen.buffer[row] for row in range(self._screen.lines))]
        found = ["".join(line[column].data for column in range(self._screen.columns)).rstrip() for line in seen]
        while found and not found[-1]:
            found.pop()
        return found

    def text(self) -> str:
        """Give the same as one text."""
        return "\n".join(self.lines())

    def _typing(self) -> str:
        """Give the text with the blanks before the cursor."""
        lines, row = self.lines(), len(self._screen.history.top) + self._screen.cursor.y
        if row < len(lines):
            lines[row] = lines[row].ljust(self._screen.cursor.x)
        return "\n".join(lines)

    def shown(self, **hidden: str) -> str:
        """Give the text for a snapshot: times, versions and paths masked, `NAME=text` shown as NAME."""
        text = self.text()
        for pattern, word in MASKS:
            text = pattern.sub(word, text)
        for name, value in hidden.items():
            text = text.replace(value, name)
        return text + "\n"

    def cursor(self) -> tuple[int, bool]:
        """Give the column of the cursor, and whether it can be seen."""
        return self._screen.cursor.x, not self._screen.cursor.hidden

    def _ready(self, patience: float) -> bool:
        return bool(self._open and select.select([self._master], [], [], patience)[0])

    def _read(self, patience: float) -> bool:
        """Take in what came; False when nothing can come any more."""
        if not self._ready(patience):
            return self._open
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:
            piece = b""
        self._open = bool(piece)
        self.raw += piece
        self._stream.feed(piece)
        return self._open

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

"""The program under test on a terminal of its own: what it shows, and what a person types."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from support.security.black_box import PATIENCE, PROGRAM, BlackBox


@dataclass(slots=True)
class Screen:
    """One call on a terminal."""

    process: "subprocess.Popen[bytes]"
    terminal: int
    text: str = ""

    def wait_for(self, words: str) -> None:
        """Read until the words are shown; what was shown up to them counts once."""
        until = time.monotonic() + PATIENCE
        while words not in self.text:
            assert time.monotonic() < until, f"{words!r} was never shown, but {self.text!r}"
            assert self._read() or words in self.text, f"it ended without {words!r}: {self.text!r}"
        self.text = self.text.partition(words)[2]

    def type(self, keys: str) -> None:
        """Type some keys."""
        os.write(self.terminal, keys.encode())

    def end(self) -> int:
        """Wait for the end of the program and give its exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        if not select.select([self.terminal], [], [], PATIENCE)[0]:
            return False
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def on_screen(box: BlackBox, *words: str, **environ: str) -> Generator[Screen]:
    """Call the program on a terminal; it is ended when the block is left."""
    ours, theirs = pty.openpty()
    env = {**box.env, "TERM": "dumb", "COLUMNS": "100", "LINES": "40", **environ}
    process = subprocess.Popen(
        [PROGRAM, *words],
        cwd=box.repository,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)

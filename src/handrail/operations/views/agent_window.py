"""What an agent prints, made readable, from beginning to end: what its window shows."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handrail.model.secrets.redaction import Redactor
from handrail.ports.agents import Agent
from handrail.ports.processes import Ended, Gone, Processes, Running

SETTLED = 1.0
"""Seconds after which a line is shown: by then the keeper of the agent has removed the secrets from it."""
POLL_INTERVAL = 0.2
MAX_BYTES = 8 << 20
"""The number of bytes that are read at once."""


@dataclass(slots=True)
class CallFollower:
    """Follows one call as it proceeds; it reads the files of the call and changes nothing."""

    place: Path
    agent: Agent
    processes: Processes
    redactor: Redactor
    _shown: int = 0
    _last: str = ""
    _sizes: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def lines(self) -> Iterator[str]:
        """Yield readable lines until the agent has ended."""
        reader = self.agent.lines()
        while True:
            found = self.processes.look(str(self.place))
            for line in self._read_settled_lines(found):
                yield from self._describe_line(line, reader.feed(line))
            if not isinstance(found, Running):
                yield _ending(found)
                return
            time.sleep(POLL_INTERVAL)

    def _read_settled_lines(self, found: Running | Ended | Gone | None) -> Iterator[bytes]:
        until = self._visible_end(found)
        while self._shown < until:
            with (self.place / "stdout").open("rb") as file:
                file.seek(self._shown)
                data = file.read(min(MAX_BYTES, until - self._shown))
            end = data.rfind(b"\n") + 1 or (len(data) if len(data) == MAX_BYTES or isinstance(found, Ended) else 0)
            if not end:
                return
            self._shown += end
            yield from self.redactor.data(data[:end]).splitlines()

    def _visible_end(self, found: Running | Ended | Gone | None) -> int:
        """Return the position up to which the output may be shown."""
        try:
            size = (self.place / "stdout").stat().st_size
        except OSError:
            return 0
        if isinstance(found, Ended):
            return size
        if not isinstance(found, Running) or not self.processes.is_kept(str(self.place)):
            # Without its keeper, nobody removes secrets from what it prints.
            return 0
        now = time.monotonic()
        self._sizes.append((now, size))
        while len(self._sizes) > 1 and self._sizes[1][0] <= now - SETTLED:
            self._sizes.pop(0)
        return self._sizes[0][1] if self._sizes[0][0] <= now - SETTLED else 0

    def _describe_line(self, line: bytes, said: str) -> Iterator[str]:
        """Yield what the line says, or else what it shows the agent doing; never the same twice in a row."""
        words = said.strip() or (self.agent.describe_line(line) or "").strip()
        if words and words != self._last:
            self._last = words
            yield from words.splitlines()


def _ending(found: Ended | Gone | None) -> str:
    return f"the agent has ended (exit code {found.code})" if isinstance(found, Ended) else "the agent was killed"


def disable_echo(terminal: int) -> None:
    """Turn off the echo of keys typed in a window: nobody reads them."""
    import termios  # noqa: PLC0415 (only where there is a terminal)

    if os.isatty(terminal):
        settings = termios.tcgetattr(terminal)
        settings[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
        termios.tcsetattr(terminal, termios.TCSANOW, settings)

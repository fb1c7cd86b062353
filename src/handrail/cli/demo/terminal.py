"""Runs commands as a person would type them, each in its own process, and shows what they print."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import handrail
from handrail.cli.demo.place import DemoPlace
from handrail.cli.demo.screen import Screen
from handrail.errors import HandrailError

RUN = "demo-1"
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); from handrail.cli.main import main; main()"
_POLL_INTERVAL = 0.02
_SHOWN_WITHIN = 2.0
_QUIET = 0.3
"""Seconds after its last line during which a running command may print more about the same moment."""
_TIMEOUT = 60.0
"""Timeout in seconds for a command of the demo; each takes a few seconds on a slow machine."""


class UnexpectedOutput(HandrailError):
    """A command of the demo did not do what it is there to show."""

    code = "demo"


@dataclass(slots=True)
class Terminal:
    """The commands of one demo."""

    place: DemoPlace
    screen: Screen
    running: "list[subprocess.Popen[str]]" = field(default_factory=list["subprocess.Popen[str]"])
    over: bool = False
    """Whether the run has ended, so that none of its processes can be running."""
    _reader: threading.Thread | None = None
    _last_line: float = 0.0
    _broken: OSError | None = None
    """Why nothing more can be shown: the reader of the output is gone."""

    def run_handrail(self, *words: str, shown: str = "", code: int = 0) -> str:
        """Call Handrail, show what it prints, and return it."""
        self.screen.show_command(f"handrail {shown or ' '.join(words)}".rstrip())
        return self._run_to_end(_program(words), f"handrail {words[0] if words else ''}".rstrip(), code)

    def run_shell(self, command: str, *, quiet: bool = False) -> str:
        """Call the shell in the repository."""
        if not quiet:
            self.screen.show_command(command)
        return self._run_to_end(["/bin/sh", "-c", command], command, 0, quiet=quiet)

    def run_until(self, words: Sequence[str], shown: str, when: Callable[[], bool]) -> "subprocess.Popen[str]":
        """Call Handrail, and return while it still runs: as soon as `when` holds and everything is shown."""
        self.screen.show_command(f"handrail {shown}")
        child = self._start(_program(words))
        self._reader = threading.Thread(target=self._read_along, args=(child,), daemon=True)
        self._reader.start()
        until = time.monotonic() + _TIMEOUT
        while not when():
            if self._broken is not None:
                raise self._broken
            if child.poll() is not None or time.monotonic() > until:
                raise UnexpectedOutput("`handrail run` did not reach the step at which it is killed", next_step=NEXT)
            time.sleep(_POLL_INTERVAL)
        self._settle()
        return child

    def kill(self, child: "subprocess.Popen[str]") -> None:
        """Kill such a command with SIGKILL: it gets no chance to print or save anything."""
        self.screen.show_command(f"kill -9 {child.pid}")
        os.kill(child.pid, signal.SIGKILL)
        child.wait(_TIMEOUT)
        if self._reader is not None:
            self._reader.join(_TIMEOUT)

    def _settle(self) -> None:
        """Wait until the screen has caught up: a command prints a little after it writes to the log."""
        holds = time.monotonic()
        while self._last_line < holds and time.monotonic() < holds + _SHOWN_WITHIN:
            time.sleep(_POLL_INTERVAL)
        while time.monotonic() < self._last_line + _QUIET:
            time.sleep(_POLL_INTERVAL)

    def _read_along(self, child: "subprocess.Popen[str]") -> None:
        try:
            self._show_output(child)
        except OSError as error:
            self._broken = error

    def end(self) -> None:
        """End whatever is still running, as after Ctrl-C: the run is stopped, and its agents with it."""
        for child in self.running:
            child.kill()
            child.wait()
        if self._reader is not None:
            self._reader.join(_TIMEOUT)
        for child in self.running:
            if child.stdout is not None:
                child.stdout.close()
        if not self.over and self.place.folders.data.exists():
            with suppress(OSError, subprocess.TimeoutExpired):
                stop = self._start(_program(("stop", RUN)))
                stop.communicate(timeout=_TIMEOUT)

    def _run_to_end(self, argv: Sequence[str], name: str, code: int, *, quiet: bool = False) -> str:
        child = self._start(argv)
        said = self._show_output(child, quiet=quiet)
        ended = child.wait(_TIMEOUT)
        if ended != code:
            raise UnexpectedOutput(f"`{name}` ended with exit code {ended} instead of {code}", next_step=NEXT)
        return said

    def _show_output(self, child: "subprocess.Popen[str]", *, quiet: bool = False) -> str:
        lines: list[str] = []
        for line in child.stdout or ():
            lines.append(line)
            self._last_line = time.monotonic()
            if not quiet:
                self.screen.show_output(line)
        return "".join(lines)

    def _start(self, argv: Sequence[str]) -> "subprocess.Popen[str]":
        child = subprocess.Popen(  # noqa: S603 - our own programs
            argv,
            cwd=self.place.repository,
            env=self.place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C is meant for the demo, which ends its commands itself.
            start_new_session=True,
        )
        self.running.append(child)
        return child


NEXT = "run `handrail demo --keep`, and look at the files it leaves"


def _program(words: Sequence[str]) -> list[str]:
    root = str(Path(handrail.__file__).parents[1])
    return [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, root, *words]

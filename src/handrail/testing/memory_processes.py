"""The in-memory twin of `Processes`: commands are scripts of what they would do, and nothing is spawned."""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, Stream, TimedOut


@frozen
class ScriptedCommand:
    """The behaviour of a command: write, then exit with a code; without a code it runs until it is terminated."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = 0
    ignores: frozenset[int] = frozenset()
    """Signals that do not terminate it."""


@dataclass(slots=True)
class _ProcessState:
    spec: ProcessSpec
    script: ScriptedCommand
    running: Running
    outcome: Ended | Gone | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryProcesses:
    """`Processes` that exist only in memory; `script` decides what a command does."""

    def __init__(self, script: Callable[[ProcessSpec], ScriptedCommand]) -> None:
        self._script = script
        self._lives: dict[str, _ProcessState] = {}
        self.started: list[ProcessSpec] = []
        """Every command that was actually started, in order."""

    def start(self, spec: ProcessSpec) -> Running:
        """Start a command, or adopt the one that was started in this folder earlier."""
        life = self._lives.get(spec.folder)
        if life is None:
            self.started.append(spec)
            number = len(self.started)
            life = _ProcessState(spec, self._script(spec), Running(number, f"memory:{number}"))
            self._lives[spec.folder] = life
            if life.script.exit_code is not None:
                self.finish(spec.folder, life.script.exit_code)
        if life.spec.key != spec.key:
            raise UsageError(f"the folder {spec.folder} belongs to another process than {spec.key}")
        return life.running

    def is_kept(self, folder: str) -> bool:
        """Whether the command of a folder is being watched, which it is as long as it runs."""
        life = self._lives.get(folder)
        return life is not None and life.outcome is None

    def look(self, folder: str) -> Running | Ended | Gone | None:
        """Return the state of the command of a folder, or None where nothing was started."""
        life = self._lives.get(folder)
        return life and (life.outcome or life.running)

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        """Wait until the command has ended or the timeout has passed."""
        life = self._lives.get(folder)
        if life is None:
            return Gone()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(life.over.wait(), timeout)
        return life.outcome or TimedOut()

    async def end(self, folder: str, grace: tuple[float, float]) -> Ended | Gone:  # noqa: ARG002 - no time passes
        """End a command with the first signal that it does not ignore, without waiting out the grace periods."""
        life = self._lives.get(folder)
        if life is None:
            return Gone()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if life.outcome is None and number not in life.script.ignores - {signal.SIGKILL}:
                self._end_life(life, Ended(None, number, len(life.script.stdout), len(life.script.stderr)))
        return life.outcome or Gone()

    def read_output(self, folder: str, stream: Stream, limit: int, tail: bool) -> bytes:
        """Return at most `limit` bytes of its output, from the end with `tail`."""
        life = self._lives.get(folder)
        if life is None:
            return b""
        written = life.script.stdout if stream == "stdout" else life.script.stderr
        return written[max(0, len(written) - limit) :] if tail else written[:limit]

    def find_by_marker(self, marker: str) -> tuple[int, ...]:
        """List the running processes that carry a mark, given in full or as the key alone."""
        lives = [life for life in self._lives.values() if life.outcome is None]
        return tuple(life.running.pid for life in lives if marker in (life.spec.key, life.spec.mark))

    def finish(self, folder: str, exit_code: int) -> None:
        """Let a running command exit on its own."""
        life = self._lives[folder]
        self._end_life(life, Ended(exit_code, None, len(life.script.stdout), len(life.script.stderr)))

    def lose(self, folder: str) -> None:
        """Let a running command disappear without a status, as in a power failure."""
        self._end_life(self._lives[folder], Gone())

    def _end_life(self, life: _ProcessState, outcome: Ended | Gone) -> None:
        life.outcome = life.outcome or outcome
        life.over.set()

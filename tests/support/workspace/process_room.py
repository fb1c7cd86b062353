"""A room in which tests run real commands through the real adapter."""

import asyncio
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, TimedOut
from handrail.processes.local import LocalProcesses
from handrail.testing.memory_processes import ScriptedCommand

LONG = 60.0
"""Seconds within which all of this ends on the slowest machine; nothing waits for it when all is well."""


@dataclass(slots=True)
class Room:
    """Starts commands in numbered folders below `root`, and waits for them."""

    root: Path
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    count: int = 0

    def spec(self, *argv: str, cwd: str | None = None, limit: int = 1 << 20) -> ProcessSpec:
        self.count += 1
        name = f"work-1:{self.count}"
        env = (("PATH", os.environ["PATH"]),)
        return ProcessSpec(name, argv, cwd or str(self.root), env, str(self.root / f"process-{self.count}"), limit)

    def sh(self, script: str, limit: int = 1 << 20) -> ProcessSpec:
        return self.spec("/bin/sh", "-c", script, limit=limit)

    def start(self, script: str) -> ProcessSpec:
        spec = self.sh(script)
        assert isinstance(self.processes.start(spec), Running)
        return spec

    async def start_together(self, specs: list[ProcessSpec]) -> None:
        """Start commands from several threads at once."""
        await asyncio.gather(*(asyncio.to_thread(self.processes.start, spec) for spec in specs))

    def run(self, spec: ProcessSpec) -> Ended:
        self.processes.start(spec)
        return self.finished(self.wait(spec))

    def wait(self, spec: ProcessSpec, seconds: float = LONG) -> Ended | Gone | TimedOut:
        outcome = asyncio.run(self.processes.wait(spec.folder, seconds))
        if isinstance(outcome, Ended):
            # The keeper leaves a moment after it has said that all is over; what is done to the files then is not its
            # doing.
            self.until_so(lambda: not self.processes.is_kept(spec.folder))
        return outcome

    def end(self, spec: ProcessSpec, grace: tuple[float, float] = (LONG, LONG)) -> Ended | Gone:
        return asyncio.run(self.processes.end(spec.folder, grace))

    def finished(self, outcome: Ended | Gone | TimedOut) -> Ended:
        assert isinstance(outcome, Ended), outcome
        return outcome

    def out(self, spec: ProcessSpec) -> bytes:
        return self.processes.read_output(spec.folder, "stdout", 1 << 20, tail=False)

    def until(self, path: str) -> Path:
        """Wait until a command has made a file."""
        self.until_so((self.root / path).exists)
        return self.root / path

    def until_so(self, ready: Callable[[], bool]) -> None:
        """Wait until something is so."""
        asyncio.run(_until(ready))


async def _until(ready: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not ready():
            await asyncio.sleep(0.01)


def shell_of(script: ScriptedCommand) -> tuple[str, ...]:
    """Give a shell command that does what is scripted."""
    lines = [f"trap '' {number}" for number in sorted(script.ignores)]
    texts = shlex.quote(script.stdout.decode()), shlex.quote(script.stderr.decode())
    lines += [f"printf %s {texts[0]}", f"printf %s {texts[1]} >&2"]
    lines.append("exec /bin/sleep 600" if script.exit_code is None else f"exit {script.exit_code}")
    return ("/bin/sh", "-c", "\n".join(lines))

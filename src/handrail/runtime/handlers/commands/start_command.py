"""Runs one command of an effect, with files that survive us, and returns how it ended.

1. Each start of a command has one folder, named by its slot and the number of the start; a start found there is
adopted.
2. A start that was lost without a trace is followed by another one, unless the step must not run twice. So is one
that met a full disk, once there is room: its output may be incomplete.
3. What the machine refuses (no folder to work in, nothing to start) is a fault and never a failed try of the step.
So is a program that is missing or may not be run: no agent can do anything about it, and no try is spent on it.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path

from handrail.errors import ProcessFault
from handrail.frozen import frozen
from handrail.model.workflow.values import Command, Expression, JsonValue, ShellBinding
from handrail.ports.environments import RunEnvironments
from handrail.ports.processes import Ended, Gone, Processes, ProcessSpec, Running, TimedOut
from handrail.runtime.handlers.commands.outcomes import Result
from handrail.runtime.ports import Commands

MAX_TEXT = 64 * 1024
"""How much of each stream is stored in an event, in bytes; the whole stays in the effect's folder."""
MAX_OUTPUT = 1 << 20
"""How much of a command's output becomes its value, in bytes."""
GRACE = (2.0, 5.0)
MAX_STARTS = 5
"""How many starts of one command may be lost before a person has to look."""
CANNOT_START = (126, 127)
"""Exit codes by which shells report that a program may not be run, or is missing."""
_TELLS = re.compile(r"not found|no such file|denied|cannot execute|exec format", re.IGNORECASE)
_MAX_LINE_LENGTH = 300


@frozen(kw_only=True)
class CommandContext:
    """One intent that is being performed, as its commands see it."""

    run: str
    seq: int
    workspace: str
    base: Path
    """The folder of the intent; each start of each command has a folder in it."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    """The timeout for all commands together in seconds, as shown to people."""
    until: float | None = None
    """When the timeout ends, on the loop's clock."""
    repeatable: bool = True
    pass_env: tuple[str, ...] = ()
    """Variables that the run's configuration passes through."""
    on_lost: Callable[[], Awaitable[object]] | None = None
    """Restores the files, before a command whose start was lost is started again."""

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds that are left until the timeout."""
        return None if self.until is None else max(self.until - asyncio.get_running_loop().time(), 0.0)


@frozen
class ResolvedCommand:
    """One command with its values resolved."""

    slot: str
    """Its name among the folders of the effect."""
    name: str
    """Its name in messages."""
    script: str
    values: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    files: frozenset[str] = frozenset()
    """Which of the values are passed as files."""
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """The expressions that the values come from in the workflow, for messages."""
    shown: str = ""
    """The command as shown to people, where that is not the script."""
    may_lack: bool = False
    """Whether a missing program is a valid outcome like any other."""


@frozen
class LostCommand:
    """A command was started, vanished without a status, and must not be started again automatically."""

    why: str


@frozen
class CommandStarter:
    """Starts commands, adopts running ones, and awaits them."""

    processes: Processes
    commands: Commands
    environments: RunEnvironments

    def find_starts(self, effect: CommandContext, slot: str) -> Iterator[Path]:
        """Yield the folder of every start of a command so far."""
        again = 0
        while self.processes.look(str(effect.base / f"{slot}.{again}")) is not None:
            yield effect.base / f"{slot}.{again}"
            again += 1

    def is_running(self, effect: CommandContext, slot: str) -> bool:
        """Whether a start of a command is running."""
        return any(isinstance(self.processes.look(str(place)), Running) for place in self.find_starts(effect, slot))

    async def stop(self, effect: CommandContext, slot: str) -> None:
        """End every start of a command, with all descendants."""
        for place in self.find_starts(effect, slot):
            await self.processes.end(str(place), GRACE)

    async def run(self, effect: CommandContext, order: ResolvedCommand) -> Result | LostCommand:
        """Run a command, or continue with the one that was started before."""
        late = f"it took longer than {effect.timeout} s and was stopped"
        while True:
            place = await self.place(effect, order.slot, again_when_missing=not order.may_lack)
            if isinstance(place, LostCommand):
                return place
            left = effect.remaining_seconds
            if left == 0 and self.processes.look(str(place)) is None:
                return Result(order.name, None, error=late)
            refused = self._start(effect, order, place)
            if refused:
                return Result(order.name, None, error=refused)
            ended = await self.processes.wait(str(place), left)
            if isinstance(ended, TimedOut):
                await self.processes.end(str(place), GRACE)
                return self._result(order, place, None, late)
            if isinstance(ended, Ended) and not ended.incomplete:
                require_started(ended, effect.workspace)
                return _require_found(effect, order, self._result(order, place, ended.code, ended.reason or ""))
            if isinstance(ended, Ended) and effect.repeatable:
                message = f"there is no disk space left for the output of the command in {place}"
                raise ProcessFault(message, next_step="free some disk space, then resume: the command is run again")

    async def place(self, effect: CommandContext, slot: str, *, again_when_missing: bool = False) -> Path | LostCommand:
        """Return the folder of a command's newest start; a new folder when that start came to nothing."""
        again_when_missing = again_when_missing and effect.repeatable
        again = lost = cut_off = 0
        while (found := self.processes.look(str(effect.base / f"{slot}.{again}"))) is not None:
            if isinstance(found, Gone):
                lost += 1
            elif isinstance(found, Ended) and found.incomplete:
                cut_off += 1
            elif not (isinstance(found, Ended) and _is_failed_start(found, missing=again_when_missing)):
                break
            again += 1
        if (lost or cut_off) and not effect.repeatable:
            why = "was killed before it was done" if lost else "ran out of disk space for its output"
            return LostCommand(f"{why}, and it must not be run twice (`repeatable: false`)")
        if lost >= MAX_STARTS:
            return LostCommand(f"was killed {lost} times from outside before it was done")
        newest = effect.base / f"{slot}.{again}"
        if lost and effect.on_lost is not None and self.processes.look(str(newest)) is None:
            await effect.on_lost()
        return newest

    def _start(self, effect: CommandContext, order: ResolvedCommand, place: Path) -> str:
        """Start a command or adopt it; a non-empty text says why its values cannot be passed."""
        if self.processes.look(str(place)) is not None:
            return ""
        bindings = tuple(ShellBinding(name, Expression(name), name in order.files) for name in order.values)
        command = Command(order.script, bindings)
        prepared = self.commands.prepare(command, order.values, str(place), order.sources)
        if isinstance(prepared, str):
            return prepared
        environment = self.environments.environment_of(effect.run)
        env = {**environment.variables(effect.pass_env), **effect.env, **dict(prepared.env)}
        key = f"{effect.run}:{effect.seq}:{place.name}"
        named, secrets = tuple(sorted(env.items())), tuple(environment.secrets.items())
        once, workspace = not effect.repeatable, effect.workspace
        spec = ProcessSpec(key, prepared.argv, workspace, named, str(place), once=once, secrets=secrets)
        self.processes.start(spec)
        return ""

    def _result(self, order: ResolvedCommand, place: Path, code: int | None, error: str) -> Result:
        text = self.processes.read_output(str(place), "stdout", MAX_OUTPUT + 1, tail=False)
        stdout = text
        if len(text) > MAX_TEXT:
            stdout = self.processes.read_output(str(place), "stdout", MAX_TEXT, tail=True)
        stderr = self.processes.read_output(str(place), "stderr", MAX_TEXT, tail=True)
        cut = str(place / "stdout") if len(text) > MAX_OUTPUT else ""
        output = _text(stdout if cut else text)
        return Result(order.name, code, _text(stdout), _text(stderr), error, output=output, cut=cut)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _could_not_start(ended: Ended) -> bool:
    return ended.reason is not None and ended.exit_code in CANNOT_START


def _is_failed_start(ended: Ended, *, missing: bool) -> bool:
    return _could_not_start(ended) or (missing and ended.code in CANNOT_START)


def _require_found(effect: CommandContext, order: ResolvedCommand, result: Result) -> Result:
    """Refuse the result of a missing program, and name the program in the words of the shell."""
    if result.code not in CANNOT_START or not effect.repeatable or order.may_lack:
        return result
    said = [line.strip() for line in (result.stderr + "\n" + result.stdout).splitlines() if line.strip()]
    telling = [line for line in said if _TELLS.search(line)] or said
    why = "is not executable" if result.code == CANNOT_START[0] else "was not found"
    named = f": {telling[-1][:_MAX_LINE_LENGTH]}" if telling else ""
    command = " ".join((order.shown or order.script).split())[:_MAX_LINE_LENGTH]
    hint = "install it or fix the command, then resume: the work of agents is kept, and the command is run again"
    raise ProcessFault(f"a program of `{command}` {why} (exit {result.code}){named}", next_step=hint)


def require_started(ended: Ended, workspace: str) -> None:
    """Refuse a command that never began: the machine is at fault, not the step."""
    if _could_not_start(ended):
        hint = f"make sure that {workspace} exists and can be accessed, then resume: nothing was run"
        raise ProcessFault(ended.reason or "", next_step=hint)

"""Runs the commands of a script or a gate, in files that survive us, and says how they ended.

1. One start of one command has one folder, named by the intent's sequence number; what is found there is adopted.
2. A start that was lost without a trace is followed by another one, unless the step must not run twice.
3. What the machine refuses (no folder to work in, nothing to start) is a fault and never a failed try of the step.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from handrail.errors import EnvironmentFault
from handrail.model.events import RunBlocked, StepBegan, StepEnded
from handrail.model.run import Pending, RunState
from handrail.model.values import Command, Expression, ShellBinding
from handrail.ports.processes import Ended, Gone, Processes, ProcessSpec, Running, TimedOut
from handrail.runtime.handlers.outcomes import Result, outcome
from handrail.runtime.ports import Clock, Commands

MOST_TEXT = 64 * 1024
"""Bytes of each stream that an event keeps; the whole stays in the effect's folder."""
MOST_OUTPUT = 1 << 20
"""Bytes of a script's output that become its value."""
GRACE = (2.0, 5.0)
MOST_STARTS = 5
"""Starts of one command that may be lost before a person has to look."""
CANNOT_START = (126, 127)


@dataclass(frozen=True, slots=True)
class Effect:
    """One intent in hand."""

    run: str
    workspace: str
    pending: Pending
    spec: dict[str, Any]
    base: Path
    until: float | None = None
    """When its time is up, on the loop's clock."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A command was started, vanished without a status, and must not be started again by us."""

    why: str


@dataclass(frozen=True, slots=True)
class CommandHandler:
    """Performs scripts and gates."""

    processes: Processes
    commands: Commands
    folder: Path
    clock: Clock

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded | RunBlocked:
        """Run every command of the intent; a gate runs all of them, so that all failures are seen."""
        if "commands" not in began.spec:
            return self._blocked(pending, f"is of type {began.action}, which the engine cannot perform by itself")
        effect = self._effect(state, pending, began)
        results: list[Result] = []
        for number, each in enumerate(effect.spec["commands"]):
            result = await self._run(effect, each, number)
            if isinstance(result, Lost):
                return self._blocked(pending, result.why)
            results.append(result)
        return outcome(pending, effect.spec, results, self.clock())

    async def stop(self, state: RunState, pending: Pending, began: StepBegan) -> None:
        """End whatever the effect started, with everything that this started."""
        if "commands" in began.spec:
            for place in self._starts(self._effect(state, pending, began)):
                await self.processes.end(str(place), GRACE)

    def _effect(self, state: RunState, pending: Pending, began: StepBegan) -> Effect:
        base = self.folder / state.run / str(pending.seq)
        effect = Effect(state.run, state.workspace, pending, cast("dict[str, Any]", began.spec), base)
        timeout = effect.spec["timeout"]
        if timeout is None:
            return effect
        # Time counts from the intent while something of it is alive; a clock that jumped may not make it longer.
        alive = any(isinstance(self.processes.look(str(place)), Running) for place in self._starts(effect))
        spent = min(max(self.clock() - began.at, 0.0), timeout) if alive else 0.0
        until = asyncio.get_running_loop().time() + timeout - spent
        return Effect(effect.run, effect.workspace, pending, effect.spec, base, until)

    def _starts(self, effect: Effect) -> Iterator[Path]:
        """Every start of every command so far."""
        for number in range(len(effect.spec["commands"])):
            again = 0
            while self.processes.look(str(effect.base / f"{number}.{again}")) is not None:
                yield effect.base / f"{number}.{again}"
                again += 1

    async def _run(self, effect: Effect, each: dict[str, Any], number: int) -> Result | Lost:
        late = f"it took longer than {effect.spec['timeout']} s and was ended"
        while True:
            place = self._place(effect, number)
            if isinstance(place, Lost):
                return place
            left = None if effect.until is None else max(effect.until - asyncio.get_running_loop().time(), 0.0)
            if left == 0 and self.processes.look(str(place)) is None:
                return Result(each["name"], None, error=late)
            refused = self._start(effect, each, place)
            if refused:
                return Result(each["name"], None, error=refused)
            ended = await self.processes.wait(str(place), left)
            if isinstance(ended, TimedOut):
                await self.processes.end(str(place), GRACE)
                return self._result(each, place, None, late)
            if isinstance(ended, Ended):
                _require_started(ended, effect.workspace)
                return self._result(each, place, ended.code, ended.reason or "")

    def _place(self, effect: Effect, number: int) -> Path | Lost:
        """The folder of a command's newest start; a new one when that start came to nothing."""
        again = lost = 0
        while (found := self.processes.look(str(effect.base / f"{number}.{again}"))) is not None:
            if isinstance(found, Gone):
                lost += 1
            elif not (isinstance(found, Ended) and _could_not_start(found)):
                break
            again += 1
        if lost and not effect.spec.get("repeatable", True):
            return Lost("was ended before it was done, and it must not run twice (`repeatable: false`)")
        if lost >= MOST_STARTS:
            return Lost(f"was killed {lost} times from outside before it was done")
        return effect.base / f"{number}.{again}"

    def _start(self, effect: Effect, each: dict[str, Any], place: Path) -> str:
        """Start a command or adopt it; a text says why its values cannot be passed."""
        if self.processes.look(str(place)) is not None:
            return ""
        files = set(each["files"])
        bindings = tuple(ShellBinding(name, Expression(name), name in files) for name in each["values"])
        prepared = self.commands.prepare(Command(each["script"], bindings), each["values"], str(place))
        if isinstance(prepared, str):
            return prepared
        env = {**self.commands.environment(), **effect.spec["env"], **dict(prepared.env)}
        key = f"{effect.run}:{effect.pending.seq}:{place.name}"
        self.processes.start(ProcessSpec(key, prepared.argv, effect.workspace, tuple(sorted(env.items())), str(place)))
        return ""

    def _result(self, each: dict[str, Any], place: Path, code: int | None, error: str) -> Result:
        text = self.processes.read_output(str(place), "stdout", MOST_OUTPUT + 1, tail=False)
        stdout = self.processes.read_output(str(place), "stdout", MOST_TEXT, tail=True)
        stderr = self.processes.read_output(str(place), "stderr", MOST_TEXT, tail=True)
        cut = str(place / "stdout") if len(text) > MOST_OUTPUT else ""
        return Result(
            each["name"], code, _text(stdout), _text(stderr), error, output=_text(stdout if cut else text), cut=cut
        )

    def _blocked(self, pending: Pending, why: str) -> RunBlocked:
        return RunBlocked(
            reason="step",
            message=f"step '{pending.address}' {why}",
            address=pending.address,
            next_step="see what it has done, then resume: the step begins anew; or take the run and complete it",
            at=self.clock(),
        )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _could_not_start(ended: Ended) -> bool:
    return ended.reason is not None and ended.exit_code in CANNOT_START


def _require_started(ended: Ended, workspace: str) -> None:
    if _could_not_start(ended):
        hint = f"see to it that {workspace} is there and can be entered, then resume: nothing was run"
        raise EnvironmentFault(ended.reason or "", next_step=hint)

"""Runs the commands of a script or a gate, in files that survive us, and says how they ended."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from handrail.errors import EnvironmentFault
from handrail.model.events import StepBegan, StepEnded
from handrail.model.run import Pending, RunState
from handrail.model.values import Command, Expression, JsonValue, ShellBinding
from handrail.ports.processes import Ended, Gone, Processes, ProcessSpec, TimedOut
from handrail.runtime.ports import Clock, Commands

MOST_TEXT = 64 * 1024
"""Characters of output that an event keeps; the whole stays in the effect's folder."""
GRACE = (2.0, 5.0)


@dataclass(frozen=True, slots=True)
class CommandHandler:
    """Performs scripts and gates."""

    processes: Processes
    commands: Commands
    folder: Path
    clock: Clock

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded:
        """Run every command of the intent; a gate runs all of them, so that all failures are seen."""
        spec = cast("dict[str, Any]", began.spec)
        results: list[dict[str, JsonValue]] = []
        for number, each in enumerate(spec["commands"]):
            results.append(await self._run(state, pending, spec, each, number))
        return self._outcome(pending, spec, results)

    async def stop(self, state: RunState, pending: Pending) -> None:
        """End whatever the effect started."""
        for place in sorted(self._place(state.run, pending.seq).glob("*")):
            if self.processes.look(str(place)) is not None:
                await self.processes.end(str(place), GRACE)

    def _place(self, run: str, seq: int) -> Path:
        return self.folder / run / str(seq)

    async def _run(
        self, state: RunState, pending: Pending, spec: dict[str, Any], each: dict[str, Any], number: int
    ) -> dict[str, JsonValue]:
        place = self._fresh(self._place(state.run, pending.seq), number, repeatable=spec.get("repeatable", True))
        if place is None:
            return {"name": each["name"], "exit_code": None, "error": NOT_AGAIN}
        started = self._start(state, pending, spec, each, place)
        if started is not None:
            return {"name": each["name"], "exit_code": None, "error": started}
        ended = await self.processes.wait(str(place), spec["timeout"])
        if isinstance(ended, TimedOut):
            await self.processes.end(str(place), GRACE)
            return self._result(each, place, None, f"it took longer than {spec['timeout']} s and was ended")
        if isinstance(ended, Gone):
            return await self._run(state, pending, spec, each, number)
        return self._result(each, place, ended, ended.reason)

    def _fresh(self, base: Path, number: int, *, repeatable: bool) -> Path | None:
        """The folder of a command's newest start; a new one when that start was lost without a trace."""
        again = 0
        while isinstance(self.processes.look(str(base / f"{number}.{again}")), Gone):
            again += 1
        return None if again and not repeatable else base / f"{number}.{again}"

    def _start(
        self, state: RunState, pending: Pending, spec: dict[str, Any], each: dict[str, Any], place: Path
    ) -> str | None:
        files = set(each["files"])
        bindings = tuple(ShellBinding(name, Expression(name), name in files) for name in each["values"])
        prepared = self.commands.prepare(Command(each["script"], bindings), each["values"], str(place))
        if isinstance(prepared, str):
            return prepared
        env = {**self.commands.environment(), **spec["env"], **dict(prepared.env)}
        key = f"{state.run}:{pending.seq}:{place.name}"
        try:
            self.processes.start(
                ProcessSpec(key, prepared.argv, state.workspace, tuple(sorted(env.items())), str(place))
            )
        except EnvironmentFault as fault:
            return fault.message
        return None

    def _result(
        self, each: dict[str, Any], place: Path, ended: Ended | None, error: str | None
    ) -> dict[str, JsonValue]:
        return {
            "name": each["name"],
            "exit_code": None if ended is None else ended.code,
            "stdout": self._text(place, "stdout"),
            "stderr": self._text(place, "stderr"),
            "error": error or "",
        }

    def _text(self, place: Path, stream: str) -> str:
        kind = "stdout" if stream == "stdout" else "stderr"
        return self.processes.read_output(str(place), kind, MOST_TEXT, tail=True).decode("utf-8", "replace")

    def _outcome(self, pending: Pending, spec: dict[str, Any], results: list[dict[str, JsonValue]]) -> StepEnded:
        bad = [each for each in results if each["exit_code"] != 0]
        worst = bad[0] if bad else results[-1] if results else {"exit_code": 0}
        stdout, stderr = str(worst.get("stdout", "")), str(worst.get("stderr", ""))
        output, problem = _output(pending.action, spec, stdout, results) if not bad else (None, "")
        failed = [str(each["name"]) for each in bad]
        error = problem or ("; ".join(_why(each) for each in bad))
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="failed" if bad or problem else "succeeded",
            output=output if not bad else _gate_output(pending.action, results, failed),
            exit_code=cast("int | None", worst.get("exit_code")),
            stdout=stdout,
            stderr=stderr,
            error=error,
            at=self.clock(),
            details={"exit_loop": not bad and bool(spec.get("exit_loop"))},
        )


NOT_AGAIN = "it was ended before it was done, and it must not run twice (`repeatable: false`)"


def _why(result: dict[str, JsonValue]) -> str:
    said = result.get("error") or f"exit {result['exit_code']}"
    return f"{result['name']}: {said}"


def _output(
    action: str, spec: dict[str, Any], stdout: str, results: list[dict[str, JsonValue]]
) -> tuple[JsonValue, str]:
    if action == "gate":
        return _gate_output(action, results, []), ""
    if not spec.get("json"):
        return stdout.strip(), ""
    try:
        return json.loads(stdout), ""
    except ValueError as error:
        return None, f"its output is no JSON: {error}"


def _gate_output(action: str, results: list[dict[str, JsonValue]], failed: list[str]) -> JsonValue:
    if action != "gate":
        return None
    said = "\n".join(str(each.get("stdout", "")) + str(each.get("stderr", "")) for each in results)
    code = next((each["exit_code"] for each in results if each["exit_code"] != 0), 0)
    return {"passed": not failed, "failed": list(failed), "exit_code": code, "output": said[-MOST_TEXT:]}

"""The adapter of this machine and its in-memory twin pass the same suite."""

import asyncio
import json
from pathlib import Path

from handrail.ports.processes import Gone, Processes, ProcessSpec
from handrail.processes.local import LocalProcesses
from handrail.testing.conformance.processes import FOREVER, ProcessesSuite
from handrail.testing.memory_processes import MemoryProcesses, ScriptedCommand
from support.workspace.process_room import shell_of


class TestLocalProcesses(ProcessesSuite):
    def make(self) -> Processes:
        return LocalProcesses()

    def argv(self, script: ScriptedCommand) -> tuple[str, ...]:
        return shell_of(script)


class TestMemoryProcesses(ProcessesSuite):
    def make(self) -> Processes:
        return MemoryProcesses(_scripted)

    def argv(self, script: ScriptedCommand) -> tuple[str, ...]:
        texts = [script.stdout.decode(), script.stderr.decode()]
        return (json.dumps([*texts, script.exit_code, sorted(script.ignores)]),)


def _scripted(spec: ProcessSpec) -> ScriptedCommand:
    out, err, code, ignores = json.loads(spec.argv[0])
    return ScriptedCommand(out.encode(), err.encode(), code, frozenset(ignores))


def test_the_twin_counts_what_was_really_started(tmp_path: Path) -> None:
    twin = MemoryProcesses(lambda _: FOREVER)
    spec = ProcessSpec("run:1", ("anything",), "/", (), str(tmp_path / "one"))
    twin.start(spec)
    twin.start(spec)
    assert twin.started == [spec]
    twin.finish(spec.folder, 0)


def test_the_twin_can_lose_a_process_as_a_power_failure_does(tmp_path: Path) -> None:
    twin = MemoryProcesses(lambda _: FOREVER)
    spec = ProcessSpec("run:1", ("anything",), "/", (), str(tmp_path / "one"))
    twin.start(spec)
    twin.lose(spec.folder)
    assert asyncio.run(twin.wait(spec.folder, None)) == Gone()

"""The behaviour that every `Processes` must show: subclass the suite as `Test...` and provide your adapter."""

# ruff: noqa: D102, S101 - tests speak by their names and by assertions

import asyncio
import signal
from abc import ABC, abstractmethod
from pathlib import Path

import pytest

from handrail.errors import UsageError
from handrail.ports.processes import Ended, Gone, Processes, ProcessSpec, Running, TimedOut
from handrail.testing.memory_processes import ScriptedCommand

SHORT = (0.3, 0.3)
FOREVER = ScriptedCommand(exit_code=None)
STUBBORN = ScriptedCommand(b"ready", exit_code=None, ignores=frozenset({int(signal.SIGINT), int(signal.SIGTERM)}))


class ProcessesSuite(ABC):
    """The conformance suite of the port."""

    @abstractmethod
    def make(self) -> Processes:
        """Build the adapter as a newly started process would."""

    @abstractmethod
    def argv(self, script: ScriptedCommand) -> tuple[str, ...]:
        """Return a command that does what is scripted."""

    def spec(self, root: Path, script: ScriptedCommand, name: str = "one") -> ProcessSpec:
        """Describe a scripted command that runs in its own folder."""
        return ProcessSpec(f"run-1:{name}", self.argv(script), str(root), (), str(root / name))

    def test_a_command_ends_with_its_exit_code_and_its_output(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, ScriptedCommand(b"out\n", b"wrong\n", 3))
        processes.start(spec)
        assert asyncio.run(processes.wait(spec.folder, 30)) == Ended(3, None, 4, 6)
        assert processes.look(spec.folder) == Ended(3, None, 4, 6)
        assert processes.read_output(spec.folder, "stdout", 100, tail=False) == b"out\n"
        assert processes.read_output(spec.folder, "stderr", 100, tail=False) == b"wrong\n"

    def test_output_is_read_from_either_end_up_to_a_limit(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, ScriptedCommand(b"0123456789"))
        processes.start(spec)
        asyncio.run(processes.wait(spec.folder, 30))
        assert processes.read_output(spec.folder, "stdout", 4, tail=False) == b"0123"
        assert processes.read_output(spec.folder, "stdout", 4, tail=True) == b"6789"
        assert processes.read_output(spec.folder, "stdout", 99, tail=True) == b"0123456789"
        assert processes.read_output(spec.folder, "stdout", 0, tail=True) == b""

    def test_a_folder_in_which_nothing_was_started_has_nothing_to_say(self, tmp_path: Path) -> None:
        processes, folder = self.make(), str(tmp_path / "none")
        assert processes.look(folder) is None
        assert asyncio.run(processes.wait(folder, 0)) == Gone()
        assert asyncio.run(processes.end(folder, SHORT)) == Gone()
        assert processes.read_output(folder, "stdout", 9, tail=False) == b""

    def test_starting_twice_in_one_folder_adopts_the_first(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, FOREVER)
        first = processes.start(spec)
        assert processes.start(spec) == first == processes.look(spec.folder)
        asyncio.run(processes.end(spec.folder, SHORT))
        assert processes.start(spec) == first, "what has ended is not started again"
        assert isinstance(processes.look(spec.folder), Ended)

    def test_a_folder_of_another_key_is_refused(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, ScriptedCommand())
        processes.start(spec)
        asyncio.run(processes.wait(spec.folder, 30))
        with pytest.raises(UsageError, match="belongs to another process than run-2:one"):
            processes.start(ProcessSpec("run-2:one", spec.argv, spec.cwd, (), spec.folder))

    def test_waiting_gives_up_after_the_timeout_and_leaves_the_command_running(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, FOREVER)
        running = processes.start(spec)
        assert asyncio.run(processes.wait(spec.folder, 0.05)) == TimedOut()
        assert processes.look(spec.folder) == running
        asyncio.run(processes.end(spec.folder, SHORT))

    def test_a_command_is_ended_by_an_interrupt_if_it_heeds_it(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, FOREVER)
        processes.start(spec)
        ended = asyncio.run(processes.end(spec.folder, (20, 20)))
        assert isinstance(ended, Ended)
        assert (ended.exit_code, ended.signal, ended.code) == (None, signal.SIGINT, 130)

    def test_a_command_that_ignores_all_it_can_is_killed(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, STUBBORN)

        async def end_once_it_ignores() -> Ended | Gone:
            processes.start(spec)
            while not processes.read_output(spec.folder, "stdout", 9, tail=False):
                await asyncio.sleep(0.01)
            return await processes.end(spec.folder, SHORT)

        ended = asyncio.run(end_once_it_ignores())
        assert isinstance(ended, Ended)
        assert (ended.signal, ended.code) == (signal.SIGKILL, 137)

    def test_a_running_command_is_found_by_its_mark_until_it_has_ended(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, FOREVER)
        assert isinstance(processes.start(spec), Running)
        assert processes.find_by_marker(spec.mark)
        assert processes.find_by_marker(spec.key)
        assert not processes.find_by_marker(spec.key + "0")
        asyncio.run(processes.end(spec.folder, SHORT))
        assert not processes.find_by_marker(spec.mark)

    def test_ending_what_has_ended_tells_how_it_ended(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, ScriptedCommand(exit_code=4))
        processes.start(spec)
        asyncio.run(processes.wait(spec.folder, 30))
        assert asyncio.run(processes.end(spec.folder, SHORT)) == Ended(4)

    def test_many_wait_for_one_command(self, tmp_path: Path) -> None:
        processes, spec = self.make(), self.spec(tmp_path, FOREVER)

        async def wait_for_all() -> list[Ended | Gone | TimedOut]:
            processes.start(spec)
            waiting = [asyncio.create_task(processes.wait(spec.folder, None)) for _ in range(3)]
            ended = await processes.end(spec.folder, (20, 20))
            return [ended, *[await one for one in waiting]]

        assert len(set(asyncio.run(wait_for_all()))) == 1

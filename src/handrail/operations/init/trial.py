"""Tries set-up and checks on the base, in a worktree that is created for it and removed whatever happens."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.operations.init.config_text import OmittedCommand, Settings
from handrail.operations.init.find_out import ProjectSurvey
from handrail.operations.init.sweep import PREFIX, remove_trial, sweep
from handrail.ports.delivery import Delivery
from handrail.ports.workspaces import Source
from handrail.runtime.handlers.commands.outcomes import Result
from handrail.runtime.handlers.commands.start_command import (
    CommandContext,
    CommandStarter,
    LostCommand,
    ResolvedCommand,
)
from handrail.runtime.handlers.trees import run_in_thread

Outcome: TypeAlias = Literal["green", "red", "not installed", "took too long", "not tried"]
NOT_FOUND = 127
MAX_LINES = 12
_MISSING = re.compile(r"^\S*python\S*: No module named ([\w.]+)$", re.MULTILINE)
"""What `python -m` prints; a module that a test misses is the test's own failure."""
TICK = 1.0
"""Seconds after which a command that still runs is shown again, with its time."""
_IDLE = re.compile(r"^make(\[\d+\])?: (Nothing to be done for|'.*' is up to date)", re.MULTILINE)


@frozen
class TrialResult:
    """One thing that was tried, how long it took and how it ended."""

    name: str
    """`worktree`, `setup`, or the name of a check."""
    command: str
    seconds: float
    outcome: Outcome
    why: str = ""
    """A short reason if it did not pass."""
    output: str = ""
    """The end of what it printed, if it did not pass."""


@frozen
class Trial:
    """Runs set-up and checks in a temporary worktree."""

    folder: Path
    """The folder for the output of the commands of trials."""
    workspaces: Delivery
    starts: CommandStarter
    timeout: int
    """Timeout in seconds for each command."""
    progress: Callable[[str], None]

    def run(self, found: ProjectSurvey, settings: Settings) -> tuple[TrialResult, ...]:
        """Try everything; an interruption first ends what runs and removes the worktree."""
        try:
            return asyncio.run(self._run_with_cleanup(found, settings))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    async def _run_with_cleanup(self, found: ProjectSurvey, settings: Settings) -> tuple[TrialResult, ...]:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, lambda: task.cancel() if task is not None else None)
        await sweep(self.folder, self.workspaces, self.starts.processes)
        folder = self.folder / f"{PREFIX}{os.getpid()}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return await self._run_in_worktree(found, settings, folder.name, folder)
        finally:
            await run_in_thread(self.workspaces.throw_away, found.root, folder.name)
            remove_trial(folder)

    async def _run_in_worktree(
        self, found: ProjectSurvey, settings: Settings, run: str, folder: Path
    ) -> tuple[TrialResult, ...]:
        self.progress("creating a worktree")
        began = time.monotonic()
        source = Source(
            run=run,
            repository=str(found.root),
            base=found.head_name,
            commit=found.head.commit,
            branch=f"handrail-init-{os.getpid()}",
            copy=(*found.included, *settings.copy),
        )
        tree = await run_in_thread(self.workspaces.prepare, source)
        tried = [TrialResult("worktree", "", time.monotonic() - began, "green")]
        orders = [("setup", command) for command in settings.setup] + list(settings.checks)
        for number, (name, command) in enumerate(orders):
            before = next((each for each in tried if each.name == "setup" and each.outcome != "green"), None)
            if before is not None:
                tried.append(TrialResult(name, command, 0.0, "not tried", f"{before.command} failed"))
                continue
            until = asyncio.get_running_loop().time() + self.timeout
            effect = CommandContext(
                run=run,
                seq=number,
                workspace=tree.path,
                base=folder,
                timeout=self.timeout,
                until=until,
                pass_env=found.pass_env,
            )
            clock = asyncio.ensure_future(self._show_time(command))
            try:
                tried.append(
                    await self._run_command(effect, ResolvedCommand(str(number), name, command, may_lack=True))
                )
            finally:
                clock.cancel()
        return tuple(tried)

    async def _show_time(self, command: str) -> None:
        """Show what is tried, and how long it has been running."""
        self.progress(command)
        began = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            self.progress(f"{command} · {time.monotonic() - began:.0f} s")

    async def _run_command(self, effect: CommandContext, order: ResolvedCommand) -> TrialResult:
        tool = program_of(order.script)
        if tool and "/" not in tool and shutil.which(tool) is None:
            return TrialResult(order.name, order.script, 0.0, "not installed", f"{tool} is not installed")
        began = time.monotonic()
        try:
            result = await self.starts.run(effect, order)
        except asyncio.CancelledError:
            await self.starts.stop(effect, order.slot)
            raise
        seconds = time.monotonic() - began
        if isinstance(result, LostCommand):
            return TrialResult(order.name, order.script, seconds, "red", result.why)
        outcome, why = _judge_result(result, self.timeout)
        return TrialResult(
            order.name, order.script, seconds, outcome, why, "" if outcome == "green" else _output_tail(result)
        )


def keep_working_settings(settings: Settings, tried: tuple[TrialResult, ...], where: str) -> Settings:
    """Return the settings that passed; the others are listed as left out."""
    bad = {each.name: each for each in reversed(tried) if each.outcome != "green"}
    red = [each for each in settings.checks if each[0] in bad]
    left = [OmittedCommand("checks", name, command, _reason(bad[name], where)) for name, command in red]
    no_setup = bool(settings.setup) and "setup" in bad
    if no_setup:
        left.append(OmittedCommand("worktrees", "setup", settings.setup, _reason(bad["setup"], where)))
    checks = tuple(each for each in settings.checks if each[0] not in bad)
    setup = () if no_setup else settings.setup
    return replace(settings, checks=checks, setup=setup, left_out=tuple(left))


def program_of(command: str) -> str:
    """Return the program that a command starts, after assignments and a change of folder; empty if unclear."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        words = words[3:]
    return next((word for word in words if not re.match(r"\w+=", word)), "") if words else ""


def _judge_result(result: Result, timeout: int) -> tuple[Outcome, str]:
    if result.code is None:
        return "took too long", f"more than {timeout} s"
    if result.code == 0:
        idle = _IDLE.search(result.stdout)
        return ("red", "make did nothing; mark the target .PHONY") if idle else ("green", "")
    lacking = _MISSING.search(result.stderr)
    if result.code == NOT_FOUND or lacking:
        return "not installed", f"{lacking[1]} is not installed" if lacking else "a program is not installed"
    return "red", f"exit {result.code}"


def _output_tail(result: Result) -> str:
    said = result.stdout.rstrip().splitlines()[-MAX_LINES:] + result.stderr.rstrip().splitlines()[-MAX_LINES:]
    return "\n".join(line for line in said if line.strip())


def _reason(tried: TrialResult, where: str) -> str:
    return f"red on {where}" if tried.outcome == "red" else tried.why

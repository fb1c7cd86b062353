"""Performs scripts and gates: runs their commands and decides how the step ended."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from handrail.frozen import frozen
from handrail.model.history.events import RunBlocked, StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.runtime.handlers.commands.outcomes import Result, outcome
from handrail.runtime.handlers.commands.start_command import (
    CommandContext,
    CommandStarter,
    LostCommand,
    ResolvedCommand,
)
from handrail.runtime.ports import Clock, step_duration

Instead: TypeAlias = Callable[[StepBegan], StepBegan]
"""Replaces the commands of an intent, or returns it unchanged."""


def keep_intent(began: StepBegan) -> StepBegan:
    """Return an intent unchanged."""
    return began


@frozen
class CommandHandler:
    """Performs scripts and gates."""

    starts: CommandStarter
    folder: Path
    clock: Clock
    restore: Callable[[RunState], Awaitable[object]] | None = None
    """Restores the worktree before a command is started again."""
    instead: Instead = keep_intent

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded | RunBlocked:
        """Run every command of the intent; a gate runs all of them, so that all failures are visible."""
        if "commands" not in began.spec:
            return self._block_run(pending, "was started by an agent that has released the run")
        began = self.instead(began)
        effect = self._effect(state, pending, began)
        results: list[Result] = []
        for order in _orders(began):
            result = await self.starts.run(effect, order)
            if isinstance(result, LostCommand):
                return self._block_run(pending, result.why)
            results.append(result)
        return outcome(pending, began.spec, results, self.clock())

    async def stop(self, state: RunState, pending: Pending, began: StepBegan) -> None:
        """End every process that the effect started, with all descendants."""
        if "commands" in began.spec:
            effect = self._effect(state, pending, began)
            for order in _orders(began):
                await self.starts.stop(effect, order.slot)

    def _effect(self, state: RunState, pending: Pending, began: StepBegan) -> CommandContext:
        spec = cast("dict[str, Any]", began.spec)
        effect = CommandContext(
            run=state.run,
            seq=pending.seq,
            workspace=state.workspace,
            base=self.folder / state.run / str(pending.seq),
            env=spec.get("env", {}),
            timeout=spec.get("timeout"),
            repeatable=bool(spec.get("repeatable", True)),
            pass_env=state.pass_env,
            on_lost=None if self.restore is None else partial(self.restore, state),
        )
        if effect.timeout is None:
            return effect
        # The timeout counts from the intent while one of its processes is alive.
        alive = any(self.starts.is_running(effect, order.slot) for order in _orders(began))
        spent = min(step_duration(self.clock, state, began), effect.timeout) if alive else 0.0
        return replace(effect, until=asyncio.get_running_loop().time() + effect.timeout - spent)

    def _block_run(self, pending: Pending, why: str) -> RunBlocked:
        return RunBlocked(
            reason="step",
            message=f"step '{pending.address}' {why}",
            address=pending.address,
            next_step="check what it has done, then resume: the step starts over; or take the run and complete it",
            at=self.clock(),
        )


def _orders(began: StepBegan) -> list[ResolvedCommand]:
    commands = cast("list[dict[str, Any]]", began.spec["commands"])
    return [
        ResolvedCommand(
            slot=str(number),
            name=each["name"],
            script=each["script"],
            values=each.get("values", {}),
            files=frozenset(each.get("files", ())),
            sources=each.get("sources", {}),
        )
        for number, each in enumerate(commands)
    ]

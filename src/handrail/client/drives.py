"""Drives runs in this process on behalf of a client, each in a task of its own.

1. A run that this process drives is attended to: no background driver takes it. The task ends when the run has ended or
   needs a person; from then on, anybody may continue it.
2. Whoever sends a message to a run that is driven here calls `wake`. A drive that is just ending looks once more then.
3. At the end of the client the tasks are cancelled: leases are released, and what a step has started continues. The
   run can be resumed by any process, which takes up the outcome of that step.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from handrail.client.values import Drive
from handrail.operations.driving.drive import EventFollower, RunClaim, RunEvent
from handrail.operations.views.run_tree import root_of
from handrail.wiring.session import Onlooker, Session

NAME = "a Python program"
"""How this process is called where people read who drives a run."""


def _ignore(_: RunEvent) -> None:
    return None


@dataclass(slots=True)
class Drives:
    """The runs that this process drives for a client."""

    session: Session
    warnings: list[str] = field(default_factory=list[str])
    """What went wrong beside the runs, such as reports on their issues."""
    _tasks: dict[str, "asyncio.Task[None]"] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _woken: set[str] = field(default_factory=set[str])

    def begin(self, run: str, claim: RunClaim) -> "asyncio.Task[None]":
        """Drive a run in a task, which takes over the claim."""
        root = root_of(self.session.log, run)
        self._tasks[root] = task = asyncio.create_task(self._drive(root, run, claim))
        return task

    async def set_going(self, run: str, claim: RunClaim, drive: Drive, *, instead: bool = False) -> None:
        """Let a run that no process drives continue: here, or in the background driver."""
        session = self.session
        if drive == "background":
            await asyncio.to_thread(lambda: session.hand_over(run, claim, instead=instead))
            return
        await asyncio.to_thread(lambda: session.offer_environment(root_of(session.log, run), instead=instead))
        self.begin(run, claim)

    def find(self, run: str) -> "asyncio.Task[None] | None":
        """Return the task that drives a run or has driven it; raise what went wrong in it."""
        root = root_of(self.session.log, run)
        task = self._tasks.get(root)
        if task is not None and task.done() and not task.cancelled() and task.exception() is not None:
            del self._tasks[root]
            task.result()
        return task

    def is_driving(self, run: str) -> bool:
        """Whether this process drives a run."""
        task = self.find(run)
        return task is not None and not task.done()

    def wake(self, run: str) -> None:
        """Let the task that drives a run look for messages once more, even if it is just ending."""
        self._woken.add(root_of(self.session.log, run))

    async def close(self) -> None:
        """Let go of all runs."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, root: str, run: str, claim: RunClaim) -> None:
        onlooker = Onlooker(_ignore, self._warn)
        self._woken.add(root)
        while root in self._woken:
            self._woken.discard(root)
            await self.session.make_drive(run, claim, EventFollower(self.session.log, run), onlooker).go()
            if root not in self._woken:
                await asyncio.to_thread(self.session.wake_for_issue, run)

    def _warn(self, problem: str) -> None:
        if problem not in self.warnings:
            self.warnings.append(problem)


async def finish(task: "asyncio.Future[Any]") -> None:
    """Wait for a task, without cancelling it if the caller is cancelled."""
    await asyncio.shield(task)

"""Performs long work and watches what happens meanwhile.

The work is done in the task of the caller, and a timer does the watching: a separate task for each piece of work would
take longer than many of them.

1. What the timer sees may interrupt the work: it is cancelled, and has ended when the call returns.
2. A fault while watching interrupts the work too, and is raised.
3. Cancelling the task from outside always works, even where the work suppresses it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from handrail.model.history.run_state import RunState

POLL_INTERVAL = 0.05
"""Seconds between checks while work is under way."""

T = TypeVar("T")
Look: TypeAlias = Callable[[RunState], RunState | None]
"""Returns the state as it is now, or None when the work has to end."""


class EffectWatch:
    """Watches while work is under way, until it is closed."""

    __slots__ = ("_asked", "_fault", "_look", "_loop", "_state", "_taken", "_task", "_timer")

    def __init__(self, look: Look) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only the work of a task can be watched")
        self._task = task
        self._asked = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._look = look
        self._state: RunState | None = None
        self._taken = False
        self._fault: Exception | None = None
        self._timer = self._loop.call_later(POLL_INTERVAL, self._poll)

    async def run_work(self, work: Coroutine[Any, Any, T], state: RunState) -> tuple[RunState, T | None]:
        """Await the work; return the state after it and its result, None when it was interrupted."""
        self._state, self._taken = state, False
        try:
            done = await work
        except BaseException:
            if not self._is_taken_away():
                raise
            done = None
        else:
            if self._is_taken_away():
                done = None
        finally:
            after, self._state = self._state, None
        if self._fault is not None:
            raise self._fault
        return after, done

    def close(self) -> None:
        """Stop watching."""
        self._timer.cancel()

    def _is_taken_away(self) -> bool:
        """Whether the work ended because of what was seen; raises where others want the task to end."""
        asked = self._task.uncancel() if self._taken else self._task.cancelling()
        if asked > self._asked:
            raise asyncio.CancelledError
        return self._taken

    def _poll(self) -> None:
        if self._state is not None and not self._taken:
            try:
                seen = self._look(self._state)
            except Exception as fault:  # noqa: BLE001 - raised by the one who watches
                self._fault, seen = fault, None
            if seen is None:
                self._taken = True
                self._task.cancel()
            else:
                self._state = seen
        self._timer = self._loop.call_later(POLL_INTERVAL, self._poll)

"""Performs long work and watches what happens meanwhile.

The work is done in the task of the caller, and a timer does the watching: a separate task for each piece of work would
take longer than many of them. Where changes of the log are reported, it looks when something has changed, when the
time of the run is up, and once in a while; elsewhere it looks often.

1. What the timer sees may interrupt the work: it is cancelled, and has ended when the call returns.
2. A fault while watching interrupts the work too, and is raised.
3. Cancelling the task from outside always works, even where the work suppresses it.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from handrail.model.history.run_state import RunState
from handrail.runtime.ports import Clock
from handrail.runtime.watcher import MAX_WAIT, Watcher

POLL_INTERVAL = 0.05
"""Seconds between checks while work is under way, if something happens all the time or nobody tells of it."""

T = TypeVar("T")
Look: TypeAlias = Callable[[RunState], RunState | None]
"""Returns the state as it is now, or None when the work has to end."""


class EffectWatch:
    """Watches while work is under way, until it is closed."""

    __slots__ = (
        *("_asked", "_clock", "_fault", "_last", "_listens", "_look", "_loop", "_state", "_taken", "_task", "_timer"),
        "_watcher",
    )

    def __init__(self, look: Look, clock: Clock = time.time, watcher: Watcher | None = None) -> None:
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
        self._clock = clock
        self._watcher = watcher
        self._listens = watcher is not None and watcher.listen(self._hear)
        self._last = self._loop.time()
        self._timer = self._loop.call_later(POLL_INTERVAL, self._poll)

    async def run_work(self, work: Coroutine[Any, Any, T], state: RunState) -> tuple[RunState, T | None]:
        """Await the work; return the state after it and its result, None when it was interrupted."""
        self._state, self._taken = state, False
        if self._listens:
            self._look_within(self._patience())
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
        if self._watcher is not None:
            self._watcher.ignore(self._hear)

    def _hear(self) -> None:
        self._look_within(max(0.0, self._last + POLL_INTERVAL - self._loop.time()))

    def _look_within(self, seconds: float) -> None:
        when = self._loop.time() + seconds
        if when < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(when, self._poll)

    def _patience(self) -> float:
        """Return for how long nothing can happen of which nobody tells."""
        if not self._listens or self._state is None:
            return POLL_INTERVAL
        deadline = self._state.deadline
        return MAX_WAIT if deadline is None else max(POLL_INTERVAL, min(MAX_WAIT, deadline - self._clock()))

    def _is_taken_away(self) -> bool:
        """Whether the work ended because of what was seen; raises where others want the task to end."""
        asked = self._task.uncancel() if self._taken else self._task.cancelling()
        if asked > self._asked:
            raise asyncio.CancelledError
        return self._taken

    def _poll(self) -> None:
        self._last = self._loop.time()
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
        self._timer = self._loop.call_later(self._patience(), self._poll)

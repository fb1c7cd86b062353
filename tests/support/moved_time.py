"""Time that a test moves: what waits for a timeout of an hour is over when the test says so, on a machine of any speed.

Timeouts count on the clock of the event loop. It goes on as ever, and a test may put it ahead from inside the loop.
"""

import asyncio
import time
from dataclasses import dataclass

import pytest


@dataclass(slots=True)
class MovedTime:
    """How far the clock of event loops is ahead."""

    ahead: float = 0.0

    def move(self, seconds: float) -> None:
        """Put the clock ahead."""
        self.ahead += seconds


@pytest.fixture
def moved_time(monkeypatch: pytest.MonkeyPatch) -> MovedTime:
    """A clock of event loops that the test moves."""
    made = MovedTime()

    def now(_: asyncio.BaseEventLoop) -> float:
        return time.monotonic() + made.ahead

    monkeypatch.setattr(asyncio.BaseEventLoop, "time", now)
    return made

"""Starts agents that get in each other's way one after the other."""

import asyncio


class Pace:
    """When each agent may be started next; one for all runs of a process."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def turn(self, agent: str, apart: float) -> None:
        """Wait until an agent may be started, and let the next one wait for so many seconds."""
        if not apart:
            return
        now = asyncio.get_running_loop().time()
        due = max(now, self._next.get(agent, now))
        self._next[agent] = due + apart
        if due > now:
            await asyncio.sleep(due - now)

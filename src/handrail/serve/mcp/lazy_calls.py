"""Opens the log when the first call comes: a client that connects is answered before anything of ours is loaded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from anyio import to_thread

from handrail.errors import HandrailError
from handrail.serve.mcp.tool_result import ToolResult


class Answers(Protocol):
    """Whoever answers calls of tools."""

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Answer one call."""
        ...


@dataclass(slots=True)
class LateCalls:
    """Answers calls of tools, from the first one on."""

    load: Callable[[], None]
    """Imports what calls need; in a thread, since it takes longer than everything else."""
    open: Callable[[], Answers]
    refuse: Callable[[HandrailError | OSError], ToolResult]
    """Answers a call where that cannot be opened; the next one tries again."""
    _loaded: bool = False
    _calls: Answers | None = None
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock)

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Answer one call."""
        await self.prepare()
        try:
            self._calls = self._calls or self.open()
        except (HandrailError, OSError) as error:
            return self.refuse(error)
        return await self._calls.call(name, arguments)

    async def prepare(self) -> None:
        """Load what calls need, while the client still makes up its mind."""
        async with self._one_at_a_time:
            if not self._loaded:
                await to_thread.run_sync(self.load)
                self._loaded = True

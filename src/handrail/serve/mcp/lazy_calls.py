"""Opens the log at the first call: a client that connects is answered before anything of ours is loaded."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import anyio
from anyio import to_thread

from handrail.errors import HandrailError
from handrail.serve.mcp.elicitation import AnswerReceiver, PersonAnswer
from handrail.serve.mcp.tool_result import ToolResult

Report: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Reports to the caller how many seconds its call has taken, and what it waits for."""
AnyToolCalls = TypeVar("AnyToolCalls", bound="ToolCalls")


async def report_nothing(_: float, __: str) -> None:
    """Report to nobody."""


class ToolCalls(Protocol):
    """Answers calls of tools."""

    async def call(self, name: str, arguments: dict[str, Any], report: Report = ..., /) -> ToolResult:
        """Answer one call; while it takes long, report progress."""
        ...


@dataclass(slots=True)
class LazyCalls(Generic[AnyToolCalls]):
    """Answers calls of tools, and opens what they need at the first one."""

    load: Callable[[], None]
    """Imports what calls need; in a thread, since it takes longer than everything else."""
    open: Callable[[], AnyToolCalls]
    refuse: Callable[[HandrailError | OSError], ToolResult]
    """Answers a call if opening fails; the next call tries again."""
    _loaded: bool = False
    _calls: AnyToolCalls | None = None
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock)

    async def call(self, name: str, arguments: dict[str, Any], report: Report = report_nothing) -> ToolResult:
        """Answer one call."""
        try:
            calls = await self.get_calls()
        except (HandrailError, OSError) as error:
            return self.refuse(error)
        return await calls.call(name, arguments, report)

    async def get_calls(self) -> AnyToolCalls:
        """Return what answers calls, opened when it is first needed."""
        await self.prepare()
        self._calls = self._calls or self.open()
        return self._calls

    async def decide(self, answer: PersonAnswer) -> ToolResult:
        """Accept the answer of a person who was asked after a call."""
        if not isinstance(self._calls, AnswerReceiver):
            raise TypeError("nobody here takes the answer of a person")
        return await self._calls.decide(answer)

    async def prepare(self) -> None:
        """Load what calls need, while the client has not called yet."""
        async with self._one_at_a_time:
            if not self._loaded:
                await to_thread.run_sync(self.load)
                self._loaded = True

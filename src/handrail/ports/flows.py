"""The process in which the coroutine of a dynamic step runs: it is told results, and answers with its next call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias


class FlowProcess(Protocol):
    """A coroutine in a process of its own, which ends with us."""

    async def ask(self, told: Mapping[str, object]) -> dict[str, Any] | None:
        """Tell it something and give its answer; None when it is gone."""
        ...

    async def farewell(self) -> str:
        """Say how a process that is gone has ended."""
        ...

    def end(self) -> None:
        """End it with everything that it started."""
        ...


StartFlow: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], Awaitable[FlowProcess]]
"""Starts one, given words for the list of processes and the whole of its environment."""

"""The process in which the coroutine of a dynamic step runs: it receives results, and answers with its next call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias


class FlowProcess(Protocol):
    """A coroutine in a process of its own, which ends with this one."""

    async def ask(self, told: Mapping[str, object]) -> dict[str, Any] | None:
        """Send it something and return its answer; None if it is gone."""
        ...

    async def describe_end(self) -> str:
        """Describe how a process that is gone has ended."""
        ...

    def end(self) -> None:
        """End it with everything that it started."""
        ...


StartFlow: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], Awaitable[FlowProcess]]
"""Starts one, given labels that are only shown in the list of processes, and its whole environment."""

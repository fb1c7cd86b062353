"""Windows in which a person watches agents at work."""

from collections.abc import Sequence
from typing import Protocol


class Windows(Protocol):
    """Opens windows, grouped in sessions."""

    def missing(self) -> str:
        """Say why there can be no windows on this machine; empty where there can."""
        ...

    def remedy(self) -> str:
        """Say what helps where there can be none."""
        ...

    def show(self, session: str, name: str, call: str, words: Sequence[str]) -> bool:
        """See to it that a window shows a call, by a command line of Handrail; tells whether there is one."""
        ...

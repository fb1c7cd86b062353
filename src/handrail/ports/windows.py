"""Windows in which a person watches agents at work."""

from collections.abc import Sequence
from pathlib import Path
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


class OpenWindows(Windows, Protocol):
    """Windows that a person can be shown."""

    @property
    def server(self) -> str:
        """The name of the server that holds them."""
        ...

    def find(self, session: str, call: str) -> str | None:
        """Find the window of a call; None once it is closed."""
        ...

    def list_sessions(self) -> frozenset[str]:
        """Name the sessions that are open."""
        ...

    def attaching(self, session: str, window: str) -> tuple[str, ...]:
        """Give the arguments that show a window to a person."""
        ...


class WindowSystem(Protocol):
    """The program that opens windows on this machine."""

    def missing(self) -> str:
        """Say why there can be no windows on this machine; empty where there can."""
        ...

    def remedy(self) -> str:
        """Say what helps where there can be none."""
        ...

    def at(self, folder: Path) -> OpenWindows:
        """Give the windows of a data folder."""
        ...

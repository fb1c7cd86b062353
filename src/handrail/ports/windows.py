"""Windows in which a person watches agents at work."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class Windows(Protocol):
    """Opens windows, grouped in sessions."""

    def unavailable_reason(self) -> str:
        """Explain why there can be no windows on this machine; empty if there can."""
        ...

    def remedy(self) -> str:
        """Describe how to make windows possible."""
        ...

    def show(self, session: str, name: str, call: str, words: Sequence[str]) -> bool:
        """Ensure that a window shows a call, with a command line of Handrail; returns whether there is one."""
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
        """List the open sessions."""
        ...

    def attaching(self, session: str, window: str) -> tuple[str, ...]:
        """Return the arguments that show a window to a person."""
        ...


class WindowSystem(Protocol):
    """The program that opens windows on this machine."""

    def unavailable_reason(self) -> str:
        """Explain why there can be no windows on this machine; empty if there can."""
        ...

    def remedy(self) -> str:
        """Describe how to make windows possible."""
        ...

    def windows_of(self, folder: Path) -> OpenWindows:
        """Return the windows of a data folder."""
        ...

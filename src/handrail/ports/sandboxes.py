"""A sandbox: what keeps the process of an agent to its work tree."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

from handrail.frozen import frozen

OwnFolders: TypeAlias = Callable[[str, Mapping[str, str]], tuple[Path, ...]]
"""Gives the folders and files in which an agent, by its name and its variables, keeps its own matters."""


@frozen
class Confined:
    """What a process in a sandbox may reach."""

    workspace: Path
    network: bool = True
    writable: tuple[Path, ...] = ()
    """What it may write beside the work tree: the folders in which its program keeps its own matters."""
    readable: tuple[Path, ...] = ()
    """What it must see, even where that lies in the temporary folder of the machine."""
    closed: bool = False
    """Whether the work tree may only be read, as well."""


class Sandbox(Protocol):
    """Runs commands in a sandbox."""

    def unusable(self, *, network: bool = True) -> str:
        """Say why no sandbox can be made on this machine; empty where it can."""
        ...

    def remedy(self) -> str:
        """Say what helps where no sandbox can be made."""
        ...

    def wrap(self, argv: tuple[str, ...], confined: Confined) -> tuple[str, ...]:
        """Give the arguments that run a command in a sandbox."""
        ...
